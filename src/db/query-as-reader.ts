import postgres from 'postgres';
import { UsageError } from '../lib/errors.ts';
import { findNearestName } from '../lib/nearest-name.ts';
import { CONNECTION_OPTIONS } from './client.ts';
import { connect } from './connect.ts';
import { literal } from './declared.ts';
import { lowerPriority } from './process-priority.ts';
import { READER_ROLE, verifyReaderFunctions } from './reader-functions.ts';
import { sessionSettings } from './session.ts';

/** Maximum number of rows of a block. Bounds the memory of a result. */
const MAX_BLOCK_ROWS = 1_000;

/** Number of characters after which a block ends. Bounds the memory of a result. */
const MAX_BLOCK_CHARACTERS = 1_000_000;
/** Maximum length of a row, in characters. */
const MAX_ROW_CHARACTERS = 64_000_000;

/** Maximum length of a row of a query that runs beside the recording, in characters. */
const MAX_ROW_CHARACTERS_BESIDE = 4_000_000;

/** The form of a row: `values` is a JSON array of texts and nulls, `object` is a JSON object with exact numbers. */
export type RowForm = 'values' | 'object';

/** A column of a result. */
export interface ResultColumn {
  readonly name: string;
  /** Kind of all values of the column. Times of timestamptz are in UTC. */
  readonly kind: 'number' | 'time' | 'text';
  /** OID of the type of the column in pg_type. */
  readonly type: number;
}

/** The result of a query, before its rows are read. */
export interface ReaderQueryResult {
  readonly columns: readonly ResultColumn[];
  /**
   * Returns the rows in blocks, each row as one JSON text. A block is fetched when the reader requests the
   * block. The rows can be read only once.
   */
  rows(form: RowForm): AsyncGenerator<readonly string[]>;
}

/** Options of a query. */
export interface ReaderQueryOptions {
  /** Timeout of the server's work on one block of rows, in ms. */
  readonly timeout: number;
  /**
   * Moment as of which relations that are named without a schema return their rows, in a format that
   * PostgreSQL parses. Null: the current rows.
   */
  readonly asOf: string | null;
  /** Cancels the query. */
  readonly signal: AbortSignal;
  /**
   * True if the query runs beside the recording. Such a query gets one core, and its rows must be shorter.
   */
  readonly beside?: boolean;
  /**
   * Lowers the CPU priority of the session of the query below that of recording; only for the embedded
   * server.
   */
  readonly yields?: boolean;
}

/** The reason why PostgreSQL refused a query. */
export interface QueryRefusal {
  readonly reason: string;
  readonly hint: string | null;
  /** Position of the error in the query, in characters from 1; null if the error has none. */
  readonly position: number | null;
}

/**
 * Runs one statement that a user wrote, as `recorder_reader`, in a read-only transaction that is rolled back.
 * The statement runs inside functions that belong to `recorder_reader` (`reader-functions.ts`). The functions
 * open a cursor, which accepts only a query: no DO block, no COPY, no second statement.
 * @param url the database; its user must be a superuser or a member of `recorder_reader`
 * @param read receives the result, whose rows can be read until the promise of `read` has settled
 * @throws UsageError if the statement is invalid or not allowed, or the user has no permission to become
 * `recorder_reader`
 * @throws the reason of the signal if it aborted
 */
export async function queryAsReader<T>(
  url: string,
  statement: string,
  { timeout, asOf, signal, beside = false, yields = false }: ReaderQueryOptions,
  read: (answer: ReaderQueryResult) => Promise<T>,
): Promise<T> {
  const longest = beside ? MAX_ROW_CHARACTERS_BESIDE : MAX_ROW_CHARACTERS;
  const session = connect(url, timeout + 5_000, {
    ...CONNECTION_OPTIONS,
    max: 1,
    connection: {
      ...sessionSettings('query', 'reporting'),
      role: READER_ROLE,
      statement_timeout: timeout,
      // Interval in which the server detects that its client has disconnected, and cancels the statement; in
      // ms.
      client_connection_check_interval: '250',
      ...(beside ? { max_parallel_workers_per_gather: '0' } : {}),
    },
    fetch_types: false,
  });
  let running: { cancel(): void } | null = null;
  const run = <Row extends postgres.Row>(text: string, values: string[] = []) => {
    signal.throwIfAborted();
    const query = session.unsafe<Row[]>(text, values, ONE_STATEMENT);
    running = query;
    return query;
  };
  const cancel = () => running?.cancel();
  signal.addEventListener('abort', cancel);
  try {
    if (yields) await lowerPriority(session, 'query');
    await verifyReaderFunctions(run).catch((error: unknown) => {
      throw readerRoleError(error) ?? error;
    });
    if (asOf)
      await createPastViews(run, statement, asOf).catch((error: unknown) => {
        throw pastViewError(error) ?? error;
      });
    const { columns, types } = await session.unsafe(statement).describe();
    if (types.length > 0)
      throw new UsageError([
        'query: parameters such as $1 are not supported: write the value into the statement',
      ]);
    if (!columns?.length)
      throw new UsageError(['query: the statement must return rows, such as select … or explain …']);
    await run('begin transaction read only');
    await run('select recorder_question.open_answer($1)', [statement]);
    return await read({
      columns: columns.map(({ name, type }) => ({ name, kind: kindOf(type), type })),
      async *rows(form) {
        for (;;) {
          // The statement may have set another timeout for the rest of the transaction.
          await run(`set local statement_timeout = ${timeout}`);
          const block = await run<{ line: string }>(
            `select line from recorder_question.next_rows($1, ${longest}, ${MAX_BLOCK_ROWS}, ${MAX_BLOCK_CHARACTERS}) as line`,
            [form],
          );
          if (block.length === 0) return;
          yield block.map(({ line }) => line);
        }
      },
    });
  } catch (error) {
    // PostgreSQL reports a cancelled statement and a timeout with the same code.
    if (signal.aborted) throw signal.reason;
    if (error instanceof postgres.PostgresError && error.code === UNDEFINED_TABLE)
      error.hint ??= await suggestRelation(session, error.message);
    throw refused(error, timeout) ?? error;
  } finally {
    signal.removeEventListener('abort', cancel);
    await session.end({ timeout: 1 });
  }
}

/**
 * Options that send a statement with the extended protocol. The driver sends a text without values as a
 * simple query, which may contain several statements, such as `set role none`. In an extended query
 * PostgreSQL refuses several statements before it runs any. The driver's types lack `simple`.
 */
const ONE_STATEMENT = { prepare: false, simple: false };

/** The OIDs of int8, int2, int4, float4, float8 and numeric in pg_type, which never change. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]);
/** The OIDs of date, timestamp and timestamptz. */
const TIMES: ReadonlySet<number> = new Set([1082, 1114, 1184]);

function kindOf(type: number): ResultColumn['kind'] {
  if (NUMBERS.has(type)) return 'number';
  return TIMES.has(type) ? 'time' : 'text';
}

const AS_VIEW = 'create temporary view "the question" as ';

type Run = <Row extends postgres.Row>(text: string, values?: string[]) => Promise<readonly Row[]>;

/**
 * Creates a temporary view for each name in the query that has a function `reporting.NAME_as_of`, and for
 * each of its lists in `reporting_lists`. The view returns the rows at the given moment.
 * @throws UsageError if the query reads another object of `reporting`
 */
async function createPastViews(run: Run, statement: string, asOf: string): Promise<void> {
  const functions = await run<{ name: string; schema: string }>(
    `select left(proname, -length('_as_of')) as name, pronamespace::regnamespace::text as schema from pg_proc
    where pronamespace in ('reporting'::regnamespace, 'reporting_internal'::regnamespace) and proname like '%\\_as\\_of' and pronargs = 1`,
  );
  const lists = await run<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = 'reporting_lists'::regnamespace`,
  );
  const rowsThen = functions.map(
    ({ name, schema }) => [name, `${schema}.${name}_as_of(${literal(asOf)}::timestamptz)`] as const,
  );
  const owners = rowsThen.toSorted(([one], [other]) => other.length - one.length);
  const elementsThen = lists.flatMap(({ name }) => {
    const owner = owners.find(([one]) => name.startsWith(`${one}_`))?.[1];
    const from = `reporting_lists.${name} e where e.version_id in (select d.version_id from ${owner} d)`;
    return owner ? [{ name, from, owner }] : [];
  });
  const views = [...rowsThen.map(([name, from]) => ({ name, from, owner: null })), ...elementsThen];
  const past = views.map(({ name }) => name);
  for (const { name, from, owner } of views) {
    if (!new RegExp(`\\b${name}\\b`, 'i').test(statement)) continue;
    // PostgreSQL evaluates no subquery for an empty list, so that a moment without a record is refused here.
    if (owner) await run(`select exists (select from ${owner})`);
    await run(`create temporary view ${name} as select * from ${from}`);
  }
  await run(AS_VIEW + statement).catch((error: unknown) => {
    if (error instanceof postgres.PostgresError && error.position)
      error.position = String(Number(error.position) - AS_VIEW.length);
    throw error;
  });
  const read = await run<{ name: string; kind: string }>(
    `select distinct coalesce(c.relname, p.proname) as name, case when c.oid is null then 'function' else 'view' end as kind
    from pg_rewrite r
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    left join pg_class c on d.refclassid = 'pg_class'::regclass and c.oid = d.refobjid
    left join pg_proc p on d.refclassid = 'pg_proc'::regclass and p.oid = d.refobjid
    where r.ev_class = 'pg_temp."the question"'::regclass
      and coalesce(c.relnamespace, p.pronamespace)::regnamespace::text in ('reporting', 'reporting_lists', 'reporting_internal')
    order by 1`,
  );
  const problems = read
    .filter(({ name, kind }) => kind === 'view' || !name.endsWith('_as_of'))
    .map(({ name }) =>
      past.includes(name)
        ? `--as-of: write ${name} instead of reporting.${name}, which has the current rows`
        : `--as-of: reporting.${name} has no history; these relations have one: ${past.join(', ')}`,
    );
  if (problems.length > 0) throw new UsageError(problems);
}

/**
 * Returns the error to report if the user has no permission to become the reader, or the session cannot be prepared; null
 * for any other error.
 */
function readerRoleError(error: unknown): UsageError | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const { code, message } = error;
  if (code === '42501' || code === '22023' || code === '42704')
    return new UsageError([
      `query: ${message}; queries run as ${READER_ROLE}, and the user of DATABASE_URL must be a member of this role: ` +
        `as a superuser, grant ${READER_ROLE} to that user (and run "chain-recorder migrate" where the role is missing)`,
    ]);
  return null;
}

/** Returns the error to report if temporary views cannot be created; null for any other error. */
function pastViewError(error: unknown): UsageError | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const { code, message } = error;
  if (code === '25006')
    return new UsageError([`--as-of: ${message}: --as-of requires the primary server in DATABASE_URL`]);
  if (code === '42501' && message.includes('temporary'))
    return new UsageError([
      `--as-of: ${message}; as a superuser: grant temporary on database … to ${READER_ROLE}`,
    ]);
  return null;
}

/**
 * Returns why PostgreSQL or the access rules refused a query, from an error of {@link queryAsReader}. Returns
 * null for any other error.
 */
export function explainRefusal(error: unknown): QueryRefusal | null {
  if (error instanceof Error && error.cause instanceof postgres.PostgresError) {
    const { code, message, hint = null, position } = error.cause;
    const reason = code === CANCELLED ? 'the query took too long and was cancelled' : message;
    if (isMultipleStatements(error.cause)) return { reason: MULTIPLE_STATEMENTS, hint: null, position: null };
    return { reason, hint, position: position === undefined ? null : Number(position) };
  }
  if (!(error instanceof UsageError)) return null;
  return { reason: error.message.replaceAll(/^(query|--as-of): /gm, ''), hint: null, position: null };
}

const CANCELLED = '57014';
const UNDEFINED_TABLE = '42P01';

/**
 * Returns a hint with the relation of `reporting` whose name is nearest to the unknown name. Returns an empty
 * text if no name is near.
 */
async function suggestRelation(session: postgres.Sql, message: string): Promise<string> {
  const [, written = ''] = /"(?:[^".]+\.)?([^"]+)"/.exec(message) ?? [];
  const rows = await session
    .unsafe<{ name: string }[]>(
      "select relname as name from pg_class where relnamespace = 'reporting'::regnamespace and relkind in ('r', 'v', 'm')",
    )
    // The transaction of the statement may be aborted.
    .catch(() => []);
  const nearest = findNearestName(
    written,
    rows.map(({ name }) => name),
  );
  return nearest === undefined ? '' : `did you mean ${nearest}?`;
}
const MULTIPLE_STATEMENTS = 'only one statement is allowed: remove the text after the first ";"';

/**
 * Returns whether PostgreSQL refused several statements. The error of a single invalid statement has a
 * position.
 */
const isMultipleStatements = ({ code, position }: postgres.PostgresError) => code === '42601' && !position;

/**
 * Returns the error to report if a statement is invalid, not allowed or timed out; null if it is not an error
 * of PostgreSQL.
 */
function refused(error: unknown, timeout: number): Error | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const { code, message, hint, position } = error;
  const cause = { cause: error };
  if (code === CANCELLED)
    return new Error(
      `the statement exceeded the timeout of ${timeout / 1000} s (--timeout) and was cancelled`,
      cause,
    );
  if (isMultipleStatements(error)) return new UsageError([`query: ${MULTIPLE_STATEMENTS}`], cause);
  const at = position ? `, at character ${position}` : '';
  const text = `query: ${message}${at}${hint ? `; ${hint}` : ''}`;
  // Invalid syntax or names, missing rights, writes in a read-only transaction, and unsupported features.
  return /^(42|25|0A|22023)/.test(code) ? new UsageError([text], cause) : new Error(text, cause);
}
