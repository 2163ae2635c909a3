import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { validators } from '../../src/datasets/node/validators.ts';
import { openDatabase } from '../../src/db/client.ts';
import { schemaProblem } from '../../src/db/migrate.ts';
import { openQueuePool } from '../../src/db/queue-pool.ts';
import { withRowLock } from '../../src/db/row-lock.ts';
import { acquireObserver } from '../../src/health/ledger.ts';
import { UsageError } from '../../src/lib/errors.ts';
import { claimRun } from '../../src/recording/claim-run.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { ManualClock } from '../support/clock.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { withDatabase } from '../support/fixture.ts';
import { jobFor, onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const { it, database, sql } = withDatabase({ max: 4 });

/** Unusual settings of a database. */
const SETTINGS = {
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  TimeZone: 'Asia/Kathmandu',
  search_path: 'nowhere',
  extra_float_digits: '-15',
  array_nulls: 'off',
  statement_timeout: '1',
  lock_timeout: '1',
  idle_session_timeout: '1000',
  client_encoding: 'LATIN1',
};

let admin: postgres.Sql;
beforeAll(() => {
  admin = postgres(inject('databaseUrl'), { max: 1, onnotice: () => {} });
});
afterAll(() => admin.end());

const nameOf = (url: string) => new URL(url).pathname.slice(1);

describe('a database with unusual settings', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await emptyDatabase();
    for (const [name, value] of Object.entries(SETTINGS)) {
      const text = name === 'search_path' || name === 'DateStyle' ? value : `'${value}'`;
      await admin.unsafe(`alter database ${nameOf(database.url)} set ${name} = ${text}`);
    }
    await migrate(database.url);
  });
  afterAll(() => database.close());

  it('records and reports the same', async () => {
    const { sql, close } = openDatabase(database.url);
    const feed = scriptedFeed(validators, { node: 'n', subnetId: 's' });
    const clock = new ManualClock(Date.UTC(2026, 1, 3, 4, 5, 6));
    const members = [
      { nodeID: 'NodeID-é', startTime: 1_770_000_000, weight: '12345678901234567890', delegationFee: '2.10' },
      { nodeID: 'NULL', startTime: 1_770_000_001, weight: 5, publicKey: 'a\\b"c' },
    ];
    feed.script = () => onlyPage({ validators: members });
    expect(await run(recordingContext(sql, clock.read), feed)).toMatchObject({
      status: 'done',
      rowsWritten: [2],
    });
    clock.now += 1_000;
    expect(await run(recordingContext(sql, clock.read), feed)).toMatchObject({ rowsWritten: [0] });
    const rows = await sql`
      select node_id, start_time, weight, delegation_fee, public_key, valid_from from reporting.node_validators_as_of(now())
      order by start_time`;
    expect([...rows]).toMatchObject([
      { node_id: 'NodeID-é', start_time: new Date(1_770_000_000_000), weight: '12345678901234567890' },
      { node_id: 'NULL', public_key: 'a\\b"c', valid_from: new Date(clock.now - 1_000) },
    ]);
    await close();
  });

  it('reports the same in a session that has them', async () => {
    const theirs = postgres(database.url, {
      max: 1,
      onnotice: () => {},
      connection: { statement_timeout: 60_000 },
    });
    const { sql: ours, close } = openDatabase(database.url);
    const readMembers = (sql: postgres.Sql) =>
      sql.unsafe(`select node_id, extract(epoch from valid_from)::text as at from reporting.node_validators_as_of(now())
        order by 1, 2`);
    expect([...(await readMembers(theirs))]).toEqual([...(await readMembers(ours))]);
    const days = (sql: postgres.Sql) =>
      sql.unsafe(`select count(*)::int as rows from reporting.node_uptime(
        timestamptz '2026-01-01 00:00+00', timestamptz '2026-01-03 00:00+00')`);
    expect([...(await days(theirs))]).toEqual([...(await days(ours))]);
    await theirs.end();
    await close();
  });

  it('runs the queue the same', async () => {
    const pool = openQueuePool(database.url, 'bullmq', () => {});
    const { rows } = await pool.query(`select current_setting('search_path') as path,
      current_setting('TimeZone') as zone, current_setting('statement_timeout') as timeout,
      current_setting('default_transaction_isolation') as isolation, current_setting('DateStyle') as style`);
    expect(rows).toEqual([
      {
        path: 'bullmq,pg_catalog',
        zone: 'UTC',
        timeout: '30s',
        isolation: 'read committed',
        style: 'ISO, YMD',
      },
    ]);
    await pool.end();
  });
});

it.each(['SQL_ASCII', 'LATIN1'])('in %s is refused, with the fix', async (encoding) => {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await admin.unsafe(
    `create database ${name} template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`,
  );
  const url = new URL(inject('databaseUrl'));
  url.pathname = name;
  const fix = new RegExp(`encoded in ${encoding}.*--encoding=UTF8`);
  await expect(migrate(url.href)).rejects.toThrow(UsageError);
  await expect(migrate(url.href)).rejects.toThrow(fix);
  const { sql, close } = openDatabase(url.href);
  expect(await schemaProblem(sql)).toMatch(fix);
  expect((await sql`select 1 from pg_namespace where nspname = 'recorder'`).length).toBe(0);
  await close();
  await admin.unsafe(`drop database ${name} with (force)`);
});

describe('after the clock of the database was set back an hour', () => {
  const now = new Date().toISOString();

  it('a lease of a target that lies in the future has expired, and a new one has not', async () => {
    const feed = scriptedFeed(validators, { node: 'n', subnetId: 's' });
    const job = jobFor(feed);
    expect(typeof (await claimRun(sql, feed, job, 'one', now))).toBe('number');
    expect(await claimRun(sql, feed, job, 'two', now)).toBe('held');
    await sql`update recorder.targets set lease_until = now() + interval '1 hour'`;
    const takers = ['two', 'three', 'four', 'five'];
    const claims = await Promise.all(takers.map((worker) => claimRun(sql, feed, job, worker, now)));
    expect(claims.filter((one) => one === 'held')).toHaveLength(3);
  });

  it('the lease of an observer that lies in the future has expired too', async () => {
    expect(await acquireObserver(sql, 'watch', 'one')).not.toBe('held');
    expect(await acquireObserver(sql, 'watch', 'two')).toBe('held');
    await sql`update recorder.health_observers set lease_until = now() + interval '1 hour'`;
    expect(await acquireObserver(sql, 'watch', 'two')).not.toBe('held');
    expect(await acquireObserver(sql, 'watch', 'one')).toBe('held');
  });

  it('a lock is kept for longer than a connection may be silent', async () => {
    const lock = 'kept';
    const holders = async () =>
      sql<{ pid: number; idle_since: Date }[]>`
        select a.pid, a.state_change as idle_since from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where l.relation = 'recorder_locks.locks'::regclass and l.mode = 'RowShareLock' and l.granted and a.datname = current_database()
          and a.state = 'idle in transaction'`;
    const silence = 600;
    const result = await withRowLock(
      database.url,
      lock,
      async () => {
        const [first] = await holders();
        const ends = (first?.idle_since.getTime() ?? 0) + 3 * silence;
        await expect
          .poll(async () => (await holders())[0]?.idle_since.getTime() ?? 0, { timeout: 20_000 })
          .toBeGreaterThan(ends);
        expect((await holders()).map(({ pid }) => pid)).toEqual([first?.pid]);
        return withRowLock(database.url, lock, async () => 'taken twice');
      },
      silence,
    );
    expect(result).toBeNull();
    await expect.poll(async () => (await holders()).length).toBe(0);
    expect(await withRowLock(database.url, lock, async () => 'free')).toBe('free');
  });
});
