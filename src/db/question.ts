import postgres from 'postgres';
import { UsageError } from '../lib/errors.ts';
import { CONNECTION } from './client.ts';
import { connect } from './connect.ts';
import { literal } from './declared.ts';
import { yieldToOthers } from './process-priority.ts';
import { holdQuestionFunctions, READER } from './question-functions.ts';
import { sessionSettings } from './session.ts';

/** The most rows of a block, and the number of characters after which a block ends. So the memory in use is bounded. */
const ROWS_AT_ONCE = 1_000;
const BYTES_AT_ONCE = 1_000_000;
/** The longest row, in characters. */
const LONGEST_ROW = 64_000_000;
const LONGEST_ROW_BESIDE = 4_000_000;

/** The form of a row: `values` is a JSON array of texts and nulls, `object` is a JSON object with exact numbers. */
export type RowForm = 'values' | 'object';

/** A column of an answer. */
export interface AnswerColumn {
  readonly name: string;
  /** What all of its texts are; times of timestamptz are in UTC. */
  readonly kind: 'number' | 'time' | 'text';
  /** The number of its type in pg_type. */
  readonly type: number;
}

/** The answer to a question, before its rows are read. */
export interface Answer {
  readonly columns: readonly AnswerColumn[];
  /** The rows, each as one JSON text, in blocks. A block is fetched when the reader asks for it. Can be read only once. */
  rows(form: RowForm): AsyncGenerator<readonly string[]>;
}

/** The options of a question. */
export interface AskOptions {
  /** The longest that the server may work on one block of rows; ms. */
  readonly timeout: number;
  /** Names without a schema show what was known at this moment, as PostgreSQL reads it; null: now. */
  readonly asOf: string | null;
  /** Cancels the question. */
  readonly signal: AbortSignal;
  /** It is asked beside the recording: it gets one core, and its rows are shorter. */
  readonly beside?: boolean;
  /** It yields its processor to who records; only of the embedded server. */
  readonly yields?: boolean;
}

/** What PostgreSQL says of a question that it does not answer. */
export interface Refusal {
  readonly said: string;
  readonly hint: string | null;
  /** The character of the question that it is about, counted from 1; null: it is about none. */
  readonly position: number | null;
}

/**
 * Runs one statement that a user wrote, as `recorder_reader`, in a read-only transaction that is rolled back.
 *
 * The statement runs inside functions that belong to `recorder_reader` (`question-functions.ts`). They open a cursor, which
 * accepts only a query: no DO block, no COPY, no second statement.
 *
 * @param url the database; its user must be a superuser or a member of `recorder_reader`
 * @param read receives the answer; its rows can be read until `read` returns
 * @throws UsageError when the statement is wrong or not allowed, or the user may not become `recorder_reader`; the signal's
 * reason when it aborted
 */
export async function askAsReader<T>(
  url: string,
  question: string,
  { timeout, asOf, signal, beside = false, yields = false }: AskOptions,
  read: (answer: Answer) => Promise<T>,
): Promise<T> {
  const longest = beside ? LONGEST_ROW_BESIDE : LONGEST_ROW;
  const session = connect(url, timeout + 5_000, {
    ...CONNECTION,
    max: 1,
    connection: {
      ...sessionSettings('query', 'reporting'),
      role: READER,
      statement_timeout: timeout,
      // A statement whose client has gone ends after this time, ms.
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
    if (yields) await yieldToOthers(session);
    await holdQuestionFunctions(run).catch((error: unknown) => {
      throw becoming(error) ?? error;
    });
    if (asOf)
      await narrowNames(run, question, asOf).catch((error: unknown) => {
        throw narrowing(error) ?? error;
      });
    const { columns, types } = await session.unsafe(question).describe();
    if (types.length > 0) throw new UsageError(['query: a parameter such as $1 has no value here']);
    if (!columns?.length)
      throw new UsageError([
        'query: only a statement that gives rows can be asked, such as select … or explain …',
      ]);
    await run('begin transaction read only');
    await run('select recorder_question.open_answer($1)', [question]);
    return await read({
      columns: columns.map(({ name, type }) => ({ name, kind: kindOf(type), type })),
      async *rows(form) {
        for (;;) {
          // The statement may have set another timeout for the rest of the transaction.
          await run(`set local statement_timeout = ${timeout}`);
          const block = await run<{ line: string }>(
            `select line from recorder_question.next_rows($1, ${longest}, ${ROWS_AT_ONCE}, ${BYTES_AT_ONCE}) as line`,
            [form],
          );
          if (block.length === 0) return;
          yield block.map(({ line }) => line);
        }
      },
    });
  } catch (error) {
    // PostgreSQL tells of one that was cancelled as of one that took too long.
    if (signal.aborted) throw signal.reason;
    throw refused(error, timeout) ?? error;
  } finally {
    signal.removeEventListener('abort', cancel);
    await session.end({ timeout: 1 });
  }
}

/**
 * The driver sends a text without values as a simple query, which may be several statements, `set role none` among them. Of an
 * extended query PostgreSQL refuses several before it runs any. The driver's types do not know `simple`.
 */
const ONE_STATEMENT = { prepare: false, simple: false };

/** The types int8, int2, int4, float4, float8 and numeric, by their numbers in pg_type, which never change. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]);
/** The types date, timestamp and timestamptz. */
const TIMES: ReadonlySet<number> = new Set([1082, 1114, 1184]);

function kindOf(type: number): AnswerColumn['kind'] {
  if (NUMBERS.has(type)) return 'number';
  return TIMES.has(type) ? 'time' : 'text';
}

const AS_VIEW = 'create temporary view "the question" as ';

type Run = <Row extends postgres.Row>(text: string, values?: string[]) => Promise<readonly Row[]>;

/**
 * Makes a temporary view for each name in the question that has a function `reporting.NAME_as_of`. The view shows the rows
 * at the given moment.
 * @throws UsageError when the question reads anything else of `reporting`
 */
async function narrowNames(run: Run, question: string, asOf: string): Promise<void> {
  const functions = await run<{ name: string }>(
    `select left(proname, -length('_as_of')) as name from pg_proc
    where pronamespace = 'reporting'::regnamespace and proname like '%\\_as\\_of' and pronargs = 1`,
  );
  const past = functions.map(({ name }) => name);
  for (const name of past.filter((one) => new RegExp(`\\b${one}\\b`, 'i').test(question)))
    await run(
      `create temporary view ${name} as select * from reporting.${name}_as_of(${literal(asOf)}::timestamptz)`,
    );
  await run(AS_VIEW + question).catch((error: unknown) => {
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
      and coalesce(c.relnamespace, p.pronamespace) = 'reporting'::regnamespace
    order by 1`,
  );
  const problems = read
    .filter(({ name, kind }) => kind === 'view' || !name.endsWith('_as_of'))
    .map(({ name }) =>
      past.includes(name)
        ? `--as-of: write ${name} instead of reporting.${name}, which is as it is now`
        : `--as-of: what reporting.${name} said at a past moment is not known; these have a past: ${past.join(', ')}`,
    );
  if (problems.length > 0) throw new UsageError(problems);
}

/** The error to report when the user may not become the reader, or cannot prepare the session; null for any other error. */
function becoming(error: unknown): UsageError | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const { code, message } = error;
  if (code === '42501' || code === '22023' || code === '42704')
    return new UsageError([
      `query: ${message}; it is asked as ${READER}, which the user of DATABASE_URL must be a member of: ` +
        `as a superuser, grant ${READER} to that user (and run "chain-recorder migrate" where the role is missing)`,
    ]);
  return null;
}

/** The error to report when temporary views cannot be made; null for any other error. */
function narrowing(error: unknown): UsageError | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const { code, message } = error;
  if (code === '25006')
    return new UsageError([`--as-of: ${message}: it needs the primary server, which DATABASE_URL must name`]);
  if (code === '42501' && message.includes('temporary'))
    return new UsageError([
      `--as-of: ${message}; as a superuser: grant temporary on database … to ${READER}`,
    ]);
  return null;
}

/** What PostgreSQL, or the rule of who may ask, says in an error of {@link askAsReader}; null: it is another error. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Error && error.cause instanceof postgres.PostgresError) {
    const { code, message, hint = null, position } = error.cause;
    const said = code === CANCELLED ? 'it took too long and was cancelled' : message;
    if (isSeveral(error.cause)) return { said: SEVERAL, hint: null, position: null };
    return { said, hint, position: position === undefined ? null : Number(position) };
  }
  if (!(error instanceof UsageError)) return null;
  return { said: error.message.replaceAll(/^(query|--as-of): /gm, ''), hint: null, position: null };
}

const CANCELLED = '57014';
const SEVERAL = 'one statement is asked at a time: leave out what stands behind the first ";"';

/** Whether PostgreSQL refuses several statements. Of one that is wrong it says where. */
const isSeveral = ({ code, position }: postgres.PostgresError) => code === '42601' && !position;

/** The error to report when a statement is wrong, is not allowed or took too long; null when it is not of PostgreSQL. */
function refused(error: unknown, timeout: number): Error | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const { code, message, hint, position } = error;
  const cause = { cause: error };
  if (code === CANCELLED)
    return new Error(`the statement was cancelled: it may take ${timeout / 1000} s (--timeout)`, cause);
  if (isSeveral(error)) return new UsageError([`query: ${SEVERAL}`], cause);
  const at = position ? `, at character ${position}` : '';
  const text = `query: ${message}${at}${hint ? `; ${hint}` : ''}`;
  // Wrong syntax and names, missing rights, writes in a read-only transaction, and what PostgreSQL does not support.
  return /^(42|25|0A|22023)/.test(code) ? new UsageError([text], cause) : new Error(text, cause);
}
