import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { queryAsReader } from '../../src/db/query-as-reader.ts';
import { UsageError } from '../../src/lib/errors.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, database, sql } = withDatabase({ max: 2 });

const never = new AbortController().signal;

/** Returns all rows of a result as texts, or its error. */
async function query(question: string, more: { url?: string; timeout?: number; asOf?: string } = {}) {
  const { url = database.url, timeout = 20_000, asOf = null } = more;
  return queryAsReader(url, question, { timeout, asOf, signal: never }, async ({ rows }) => {
    const all: unknown[] = [];
    for await (const block of rows('values')) all.push(...block.map((line) => JSON.parse(line)));
    return all;
  });
}
const queryOrError = (question: string, more: Parameters<typeof query>[1] = {}) =>
  query(question, more).catch((error: Error) => error.message);

describe("a user's query", () => {
  it('runs as recorder_reader, for whom names of reporting need no schema', async () => {
    expect(await query('select current_user')).toEqual([['recorder_reader']]);
    expect(await query('select count(*) from freshness')).toEqual([['0']]);
    expect(await query('table reporting.freshness')).toEqual([]);
  });

  it('is not JIT-compiled, because views that unpack are estimated at thousands of times their rows', async () => {
    await sql.unsafe(`alter database ${new URL(database.url).pathname.slice(1)} set jit = on`);
    expect(await query("select current_setting('jit')")).toEqual([['off']]);
  });

  it('returns every value as the text of PostgreSQL', async () => {
    expect(
      await query(`select 1.10::numeric, 340282366920938463463374607431768211456::numeric, 'a"b,é
        c', null, '', array[1,2], '{"a": 1.0}'::jsonb, timestamptz '2026-11-01 12:00:00.123456Z', '\\x00ff'::bytea,
        'NaN'::float8, true, row(1, 'x')`),
    ).toEqual([
      [
        '1.10',
        '340282366920938463463374607431768211456',
        'a"b,é\n        c',
        null,
        '',
        '[1,2]',
        '{"a": 1.0}',
        '2026-11-01T12:00:00.123456+00:00',
        '\\x00ff',
        'NaN',
        'true',
        '{"f1":1,"f2":"x"}',
      ],
    ]);
    expect(await query('select 1 as a, 2 as a')).toEqual([['1', '2']]);
  });

  it('returns its columns also without rows', async () => {
    const columns = await queryAsReader(
      database.url,
      "select 1 as one, null::numeric as two, null as three, now() as four, date '2026-01-01' as five where false",
      { timeout: 1000, asOf: null, signal: never },
      async (answer) => answer.columns,
    );
    expect(columns).toEqual([
      { name: 'one', kind: 'number', type: 23 },
      { name: 'two', kind: 'number', type: 1700 },
      { name: 'three', kind: 'text', type: 25 },
      { name: 'four', kind: 'time', type: 1184 },
      { name: 'five', kind: 'time', type: 1082 },
    ]);
  });

  it('is read in blocks, of fewer rows if they are long', async () => {
    const blocks = async (question: string) =>
      queryAsReader(
        database.url,
        question,
        { timeout: 60_000, asOf: null, signal: never },
        async ({ rows }) => {
          const sizes: number[] = [];
          for await (const block of rows('object')) sizes.push(block.length);
          return sizes;
        },
      );
    expect(await blocks('select * from generate_series(1, 2500)')).toEqual([1000, 1000, 500]);
    expect(await blocks("select repeat('x', 400000) from generate_series(1, 7)")).toEqual([3, 3, 1]);
  });

  it('times out on a silent server, also if the statement sets another timeout', async () => {
    expect(await queryOrError('select pg_sleep(60)', { timeout: 200 })).toMatch(
      /exceeded the timeout of 0.2 s/,
    );
    expect(
      await queryOrError(
        `select set_config('statement_timeout', '0', false), case when n > 2000 then pg_sleep(60) end from generate_series(1, 3000) n`,
        { timeout: 500 },
      ),
    ).toMatch(/cancelled/);
  });

  it('ends on abort', async () => {
    const stop = new AbortController();
    const answer = queryAsReader(
      database.url,
      'select pg_sleep(60)',
      { timeout: 50_000, asOf: null, signal: stop.signal },
      async ({ rows }) => {
        const first = rows('values').next();
        await expect
          .poll(
            async () =>
              (
                await sql`
          select from pg_stat_activity where application_name = 'chain-recorder query' and wait_event = 'PgSleep'`
              ).length,
          )
          .toBe(1);
        stop.abort();
        await first;
      },
    );
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a hostile query', () => {
  beforeAll(() => sql`create table public.victim (n int)`);

  it.each([
    ['select 1; select 2', 'only one statement is allowed'],
    ['commit; drop table public.victim', 'only one statement is allowed'],
    ['', 'must return rows'],
    ['-- nothing', 'must return rows'],
    ['commit', 'must return rows'],
    ['set role none', 'must return rows'],
    ['reset session authorization', 'must return rows'],
    ["do $$ begin perform set_config('role', 'none', false); end $$", 'must return rows'],
    ["copy (select 1) to program 'touch /tmp/x'", 'must return rows'],
    ['insert into public.victim values (1) returning n', 'read-only transaction'],
    ['with w as (delete from public.victim returning n) select * from w', 'read-only transaction'],
    ['select 1 into public.stolen', 'must return rows'],
    ['create table stolen (n int)', 'must return rows'],
    ['select * from recorder.runs', 'permission denied'],
    ["select pg_read_file('/etc/passwd')", 'permission denied'],
    ["select lo_import('/etc/passwd')", 'permission denied'],
    ["select nextval('recorder.runs_run_id_seq')", 'permission denied'],
    ['select rolpassword from pg_authid', 'permission denied'],
    ["select set_config('role', 'none', false)", 'within security-definer function'],
    ["select set_config('session_authorization', 'default', false)", 'within security-definer function'],
    ["select set_config('transaction_read_only', 'off', false)", 'must be set before any query'],
    ["select query_to_xml('set role none', true, true, '')", 'not allowed|security-definer'],
    [
      "select set_config('role', 'none', true), query_to_xml('select pg_read_file(''/etc/passwd'')', true, true, '')",
      'within security-definer function',
    ],
    ['select $1', 'parameter'],
    ['select $1::int', 'parameter'],
    ['selct 1', 'syntax error at or near "selct", at character 1'],
    ['select 1/0', 'division by zero'],
    ["select repeat('x', 100000000)", 'a row of more than 64 million characters'],
    ["select recorder_question.open_answer('select 1')", 'already in use'],
    ['prepare p as select 1', 'must return rows'],
    ['listen x', 'must return rows'],
    ['vacuum', 'must return rows'],
    ['explain analyze delete from public.victim', 'read-only transaction'],
  ])('%s', async (question, message) => {
    expect(await queryOrError(question)).toMatch(new RegExp(message));
    expect(
      await sql`select to_regclass('public.stolen') as stolen, to_regclass('public.victim') is not null as victim`,
    ).toEqual([{ stolen: null, victim: true }]);
  });

  it.each([
    ['select 1; set role none; create table public.stolen (n int)', 'only one statement is allowed'],
    ['select 1; reset role; drop table public.victim; --', 'only one statement is allowed'],
    ['select 1 -- one\n; set role none; create table public.stolen (n int) /*', 'unterminated /\\* comment'],
    ['select $a$1$a$; create table stolen (n int); select $a$', 'unterminated dollar-quoted string'],
    ['select 1); create table public.stolen (n int', 'syntax error at or near "\\)", at character 9'],
    ['selct 1', 'syntax error at or near "selct", at character 1'],
    ['select nothing', 'column "nothing" does not exist, at character 8'],
    ['select 1 into public.stolen', 'SELECT INTO'],
    ['with w as (delete from public.victim returning n) select * from w', 'data-modifying'],
    ['select n from public.victim for update', 'read-only transaction'],
    ["select nextval('recorder.runs_run_id_seq')", 'permission denied'],
    ["select set_config('role', 'none', false)", 'within security-definer function'],
    ["select set_config('transaction_read_only', 'off', false)", 'must be set before any query'],
    ["select query_to_xml('set role none', true, true, '')", 'not allowed|security-definer'],
    ['select * from validators with check option', 'syntax error'],
    ['table "the question"', 'does not exist'],
  ])('at a past moment: %s', async (question, message) => {
    const answer = await queryOrError(question, { asOf: new Date().toISOString() });
    expect(
      await sql`select to_regclass('public.stolen') as stolen, to_regclass('public.victim') is not null as victim`,
    ).toEqual([{ stolen: null, victim: true }]);
    expect(answer).toMatch(new RegExp(message));
  });

  it('leaves no settings, locks and notifications after it', async () => {
    await queryOrError("select set_config('search_path', 'pg_catalog', false), pg_advisory_lock(7310202611)");
    const countLocks = async () =>
      (
        await sql`select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`
      ).length;
    await expect.poll(countLocks).toBe(0);
  });

  it.each([
    'select pg_advisory_lock(7310202619)',
    'select pg_try_advisory_xact_lock_shared(1, 2)',
    'select U&"\\0070g_advisory_lock"(1)',
    "select query_to_xml('select pg_adv' || 'isory_lock(1)', true, true, '')",
  ])('takes no advisory lock, in any spelling: %s', async (question) => {
    expect(await queryOrError(question)).toMatch(/queries must not use advisory locks/);
  });
});

describe('a database user', () => {
  const role = `login_${randomBytes(4).toString('hex')}`;
  let url: string;
  beforeAll(async () => {
    await sql.unsafe(`create role ${role} login password 'secret'`);
    const own = new URL(database.url);
    own.username = role;
    own.password = 'secret';
    url = own.href;
  });
  afterAll(async () => {
    const admin = postgres(inject('databaseUrl'), { max: 1, onnotice: () => {} });
    await sql.unsafe(`drop owned by ${role}`);
    await admin.unsafe(`drop role ${role}`);
    await admin.end();
  });

  it('who may not become recorder_reader gets the fix; one who may, queries as recorder_reader', async () => {
    const refused = await query('select current_user', { url }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UsageError);
    expect(String(refused)).toContain('grant recorder_reader to that user');
    await sql.unsafe(`grant recorder_reader to ${role}`);
    expect(await query('select current_user', { url })).toEqual([['recorder_reader']]);
    await sql.unsafe(`grant all on schema recorder to ${role}`);
    await sql.unsafe(`grant all on all tables in schema recorder to ${role}`);
    expect(await queryOrError("select set_config('role', 'none', false)", { url })).toMatch(
      'within security-definer',
    );
  });

  it("runs functions of the reader only: those of another owner would have that owner's rights", async () => {
    await sql`alter function recorder_question.open_answer(text) owner to current_user`;
    expect(await queryOrError('select 1')).toContain('run "chain-recorder migrate"');
    await migrate(database.url);
    expect(await query('select 1')).toEqual([['1']]);
  });

  it('without the right to temporary objects gets the fix', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await sql.unsafe(`revoke temporary on database ${name} from public`);
    expect(await query('select 1', { url })).toEqual([['1']]);
    expect(await queryOrError('select 1', { url, asOf: new Date().toISOString() })).toContain(
      'grant temporary',
    );
    await sql.unsafe(`grant temporary on database ${name} to public`);
  });
});
