import type postgres from 'postgres';
import { UsageError } from '../lib/errors.ts';
import { attempt } from './transaction.ts';

/** The role that runs every statement a user wrote. */
export const READER_ROLE = 'recorder_reader';

/**
 * The schema of the functions that run a user's statement. The schema is not part of `reporting`, because
 * only the recorder calls these functions.
 */
export const READER_FUNCTIONS_SCHEMA = 'recorder_question';

/**
 * The functions that run a user's statement. The functions belong to `recorder_reader` and are SECURITY
 * DEFINER: inside such a function PostgreSQL refuses every way back to the role that logged in (`set role
 * none`, `set_config('role', …)` inside a query). The functions are stored in the database because a session of
 * a replica cannot create functions.
 */
const FUNCTIONS = `
create function ${READER_FUNCTIONS_SCHEMA}.open_answer(question text) returns void language plpgsql security definer as $$
declare
  answer refcursor := 'answer';
begin
  open answer no scroll for execute question;
end $$;
create function ${READER_FUNCTIONS_SCHEMA}.next_rows(form text, longest int, most int, bytes int) returns setof text language plpgsql security definer as $$
declare
  answer refcursor := 'answer';
  one record;
  line text;
  taken bigint := 0;
begin
  for row_number in 1..most loop
    fetch answer into one;
    exit when not found;
    line := pg_catalog.row_to_json(one);
    if pg_catalog.length(line) > longest then
      raise exception 'a row of more than % million characters', longest / 1000000 using errcode = 'program_limit_exceeded';
    end if;
    if form = 'values' then
      select pg_catalog.json_agg(v.value order by v.place) into line
      from pg_catalog.json_each_text(line::json) with ordinality as v(name, value, place);
    end if;
    return next line;
    taken := taken + pg_catalog.length(line);
    exit when taken > bytes;
  end loop;
  if exists (select from pg_catalog.pg_locks where locktype = 'advisory' and pid = pg_catalog.pg_backend_pid()) then
    raise exception 'queries must not use advisory locks, because other programs of this database use them' using errcode = 'insufficient_privilege';
  end if;
end $$;
revoke execute on all functions in schema ${READER_FUNCTIONS_SCHEMA} from public`;

/** SQL query: whether the functions of this version exist and belong to the reader. */
const FUNCTIONS_STATE_QUERY = `
  select count(*) = 2 and bool_and(p.prosecdef and p.proowner = (select oid from pg_roles where rolname = '${READER_ROLE}')) as sound,
    string_agg(p.prosrc, '' order by p.proname) as text
  from pg_proc p where p.pronamespace = to_regnamespace('${READER_FUNCTIONS_SCHEMA}')`;

const BODIES = [...FUNCTIONS.matchAll(/\$\$([\s\S]*?)\$\$/g)].map(([, body]) => body);
/** The function bodies, sorted by name like the rows of {@link FUNCTIONS_STATE_QUERY}. */
const TEXT = BODIES.toReversed().join('');

interface FunctionsState extends postgres.Row {
  readonly sound: boolean;
  readonly text: string | null;
}

/**
 * Creates the functions, within the transaction of a migration. A user that cannot become `recorder_reader`
 * cannot create the functions. The database is usable anyway, and only queries of users fail, with an error
 * that contains the fix.
 */
export async function createReaderFunctions(sql: postgres.Sql): Promise<void> {
  const [found] = await sql.unsafe<FunctionsState[]>(FUNCTIONS_STATE_QUERY);
  if (found?.sound && found.text === TEXT) return;
  await attempt(
    sql,
    `create schema if not exists ${READER_FUNCTIONS_SCHEMA};
    drop function if exists ${READER_FUNCTIONS_SCHEMA}.open_answer, ${READER_FUNCTIONS_SCHEMA}.next_rows;
    grant usage, create on schema ${READER_FUNCTIONS_SCHEMA} to ${READER_ROLE};
    set local role ${READER_ROLE};
    ${FUNCTIONS};
    reset role;
    revoke create on schema ${READER_FUNCTIONS_SCHEMA} from ${READER_ROLE}`,
  );
}

type Run = <Row extends postgres.Row>(text: string) => Promise<readonly Row[]>;

/**
 * Verifies that the functions exist and belong to the reader. Functions of another owner would run with that
 * owner's rights.
 * @throws UsageError if a function is missing or has another owner
 */
export async function verifyReaderFunctions(run: Run): Promise<void> {
  const [found] = await run<FunctionsState>(FUNCTIONS_STATE_QUERY);
  if (!found?.sound)
    throw new UsageError([
      `query: a function for queries is missing in the database: run "chain-recorder migrate" as a user that is a member of ${READER_ROLE} (as a superuser: grant ${READER_ROLE} to that user)`,
    ]);
}
