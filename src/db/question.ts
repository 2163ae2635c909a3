import postgres from 'postgres';
import { UsageError } from '../errors.ts';
import { CONNECTION } from './client.ts';
import { connect } from './connect.ts';
import { sessionSettings } from './session.ts';

/** The only role that runs what a user wrote. */
const ROLE = 'recorder_reader';

/** Rows that are fetched at once, and the bytes after which fewer are: what is held in memory stays bounded. */
const ROWS_AT_ONCE = 1_000;
const BYTES_AT_ONCE = 1_000_000;
/** No row may be longer; bytes. */
const LONGEST_ROW = 64_000_000;

/** How rows come: `values` as a JSON array of texts and nulls, `object` as a JSON object whose numbers are exact. */
export type RowForm = 'values' | 'object';

/** The answer to a question, before its rows are read. */
export interface Answer {
  /** The columns in their order; `number`: its texts are numbers. */
  readonly columns: readonly { readonly name: string; readonly number: boolean }[];
  /** The rows, each as one JSON text, in blocks of which the next is fetched when it is asked for. Can be read once. */
  rows(form: RowForm): AsyncGenerator<readonly string[]>;
}

/** How a question is asked. */
export interface AskOptions {
  /** The longest that the server may work without giving a row; ms. */
  readonly timeout: number;
  /** Names without a schema mean what was known at this moment; null: now. */
  readonly asOf: Date | null;
  /** Ends the question. */
  readonly signal: AbortSignal;
}

/**
 * Asks one statement that a user wrote, as `recorder_reader`, in a read-only transaction that is rolled back.
 *
 * The statement runs inside functions that belong to `recorder_reader` and are SECURITY DEFINER: only there PostgreSQL
 * refuses every way back to the role that logged in (`set role none`, `set_config('role', …)` inside a query). They open
 * a cursor, which takes a query and nothing else: no DO block, no COPY, no second statement.
 *
 * @param url the database; its user must be a superuser or a member of `recorder_reader`
 * @param read is given the answer, whose rows can be read until it returns
 * @throws UsageError when the statement is wrong or not allowed, or the user may not become `recorder_reader`
 */
export async function askAsReader<T>(
  url: string,
  question: string,
  { timeout, asOf, signal }: AskOptions,
  read: (answer: Answer) => Promise<T>,
): Promise<T> {
  const session = connect(url, timeout + 5_000, {
    ...CONNECTION,
    max: 1,
    connection: { ...sessionSettings('query', 'reporting'), role: ROLE, statement_timeout: timeout },
    fetch_types: false,
  });
  let running: { cancel(): void } | null = null;
  const run = <Row extends postgres.Row>(text: string, values: string[] = []) => {
    const query = session.unsafe<Row[]>(text, values);
    running = query;
    return query;
  };
  const cancel = () => running?.cancel();
  signal.addEventListener('abort', cancel);
  try {
    await run(OPEN_ANSWER).catch((error: unknown) => {
      throw becoming(error) ?? error;
    });
    await run(NEXT_ROWS);
    if (asOf) await narrowNames(run, question, asOf);
    const { columns, types } = await session.unsafe(question).describe();
    if (types.length > 0) throw new UsageError(['query: a parameter such as $1 has no value here']);
    if (!columns?.length)
      throw new UsageError([
        'query: only a statement that gives rows can be asked, such as select … or explain …',
      ]);
    await run('begin transaction read only');
    await run('select pg_temp.open_answer($1)', [question]);
    return await read({
      columns: columns.map(({ name, type }) => ({ name, number: NUMBERS.has(type) })),
      async *rows(form) {
        for (;;) {
          // What the statement itself may have set lasts until here.
          await run(`set local statement_timeout = ${timeout}`);
          const block = await run<{ line: string }>('select line from pg_temp.next_rows($1) as line', [form]);
          if (block.length === 0) return;
          yield block.map(({ line }) => line);
        }
      },
    });
  } catch (error) {
    throw refused(error, timeout) ?? error;
  } finally {
    signal.removeEventListener('abort', cancel);
    await session.end({ timeout: 1 });
  }
}

/** int8, int2, int4, float4, float8, numeric: by their numbers in pg_type, which never change. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]);

const OPEN_ANSWER = `create function pg_temp.open_answer(question text) returns void language plpgsql security definer as $$
declare
  answer refcursor := 'answer';
begin
  open answer no scroll for execute question;
end $$`;

const NEXT_ROWS = `create function pg_temp.next_rows(form text) returns setof text language plpgsql security definer as $$
declare
  answer refcursor := 'answer';
  one record;
  line text;
  bytes bigint := 0;
begin
  for row_number in 1..${ROWS_AT_ONCE} loop
    fetch answer into one;
    exit when not found;
    line := pg_catalog.row_to_json(one);
    if pg_catalog.length(line) > ${LONGEST_ROW} then
      raise exception 'a row of more than ${LONGEST_ROW / 1_000_000} million characters' using errcode = 'program_limit_exceeded';
    end if;
    if form = 'values' then
      select pg_catalog.json_agg(v.value order by v.place) into line
      from pg_catalog.json_each_text(line::json) with ordinality as v(name, value, place);
    end if;
    return next line;
    bytes := bytes + pg_catalog.length(line);
    exit when bytes > ${BYTES_AT_ONCE};
  end loop;
end $$`;

type Run = <Row extends postgres.Row>(text: string, values?: string[]) => Promise<readonly Row[]>;

/**
 * Gives the names in the question that have a past (`reporting.NAME_as_of`) that past's meaning, by temporary views, and
 * holds that it reads nothing else of `reporting`.
 */
async function narrowNames(run: Run, question: string, asOf: Date): Promise<void> {
  const functions = await run<{ name: string }>(
    `select left(proname, -length('_as_of')) as name from pg_proc
    where pronamespace = 'reporting'::regnamespace and proname like '%\\_as\\_of' and pronargs = 1`,
  );
  const past = functions.map(({ name }) => name);
  for (const name of past.filter((one) => new RegExp(`\\b${one}\\b`, 'i').test(question)))
    await run(
      `create temporary view ${name} as select * from reporting.${name}_as_of('${asOf.toISOString()}'::timestamptz)`,
    );
  await run(`create temporary view "the question" as ${question}`);
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

/** The words for a user who may not become the reader; null for any other error. */
function becoming(error: unknown): UsageError | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const { code, message } = error;
  if (code === '42501' && message.includes('temporary'))
    return new UsageError([`query: ${message}; as a superuser: grant temporary on database … to ${ROLE}`]);
  if (code === '42501' || code === '22023' || code === '42704')
    return new UsageError([
      `query: ${message}; it is asked as ${ROLE}, which the user of DATABASE_URL must be a member of: ` +
        `as a superuser, grant ${ROLE} to that user (and run "chain-recorder migrate" where the role is missing)`,
    ]);
  if (code === '25006')
    return new UsageError([`query: ${message}: DATABASE_URL must name the primary server, not a standby`]);
  return null;
}

/** The words for a statement that is wrong, is not allowed or took too long; null for any other error. */
function refused(error: unknown, timeout: number): Error | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const { code, message, hint, position } = error;
  if (code === '57014')
    return new Error(`the statement was cancelled: it may take ${timeout / 1000} s (--timeout)`);
  const at = position ? `, at character ${position}` : '';
  const text = `query: ${message}${at}${hint ? `; ${hint}` : ''}`;
  // Syntax and names, rights, what a read-only transaction refuses, and what is not supported.
  return /^(42|25|0A|22023)/.test(code) ? new UsageError([text]) : new Error(text);
}
