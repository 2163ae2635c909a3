import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { validators } from '../../src/datasets/node/validators.ts';
import { openSealConnection } from '../../src/db/client.ts';
import { isDatabaseUnavailable } from '../../src/db/connection-error.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import { sealUntil } from '../../src/reporting/seals/seal.ts';
import { verify } from '../../src/reporting/seals/verify.ts';
import { bookkeepingTables, excludedTables, readingTables } from '../../src/warehouse/bookkeeping.ts';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { exportTables } from '../../src/warehouse/export.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { restoreRecord } from '../../src/warehouse/restore.ts';
import { startCommand } from '../support/cli.ts';
import { ManualClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { rowsInPostgres } from './lake.ts';
import { writeReadings, writeRows } from './synthetic.ts';

let database: TestDatabase;
let empty: TestDatabase;
let sql: postgres.Sql;
let there: postgres.Sql;
const folder = temporaryFolder('restore');
const lake = join(folder, 'lake');

const connect = ({ url }: TestDatabase) =>
  postgres(url, { max: 2, onnotice: () => {}, connection: { TimeZone: 'UTC' } });

beforeAll(async () => {
  [database, empty] = await Promise.all([testDatabase(), testDatabase()]);
  [sql, there] = [connect(database), connect(empty)];
});
afterAll(async () => {
  await Promise.all([sql.end({ timeout: 1 }), there.end({ timeout: 1 })]);
  await Promise.all([database.close(), empty.close()]);
});

const clock = new ManualClock(Date.UTC(2026, 10, 5));
const feed = scriptedFeed(
  validators,
  { node: 'one', subnetId: 'primary' },
  { confirmShrink: { observations: 1, minDuration: 0 } },
);

/** One poll of the validators of a node, with their weights. */
async function recordPoll(on: postgres.Sql, weights: Readonly<Record<string, string>>): Promise<void> {
  const members = Object.entries(weights).map(([nodeID, weight]) => ({
    nodeID,
    weight,
    startTime: 1_700_000_000,
  }));
  feed.script = () => onlyPage({ validators: members });
  await run(recordingContext(on, clock.read), feed);
  clock.now += 3_600_000;
}

async function seal(): Promise<void> {
  const made = await sealUntil(
    { databaseUrl: database.url, clock: clock.read, key: undefined, signal: new AbortController().signal },
    clock.now,
  );
  expect(made).toMatchObject({ seal: expect.any(Number) });
}

async function exportAll(incremental: boolean): Promise<void> {
  const target = new DirectoryTarget(lake);
  const signal = new AbortController().signal;
  await exportTables({
    databaseUrl: database.url,
    target,
    tables: warehouseTables,
    format: 'parquet',
    incremental,
    signal,
  });
  await target.close();
}

const restore = (from: string, more: { signal?: AbortSignal; progress?: () => void } = {}) =>
  restoreRecord({
    databaseUrl: empty.url,
    source: new DirectoryTarget(from),
    signal: new AbortController().signal,
    ...more,
  });

const countRows = async (on: postgres.Sql): Promise<number> => {
  const [found] = await on.unsafe<{ rows: number }[]>(
    `select (${[...bookkeepingTables, 'validators', 'p_blocks'].map((name) => `(select count(*) from recorder.${name})`).join(' + ')})::int as rows`,
  );
  return found?.rows ?? -1;
};

it('every table is in an export, or listed as not part of the record', async () => {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'recorder'::regnamespace and relkind in ('r', 'p')`;
  const assigned = [
    ...warehouseTables.map(({ name }) => name),
    ...bookkeepingTables,
    ...excludedTables,
    ...readingTables,
  ];
  expect(tables.map(({ name }) => name).sort()).toEqual([...new Set(assigned)].sort());
});

it('an empty database becomes the record: rows, versions, bookkeeping, seals; and continues', async () => {
  for (const table of warehouseTables) await writeRows(sql, table, 1, 30);
  // Texts that decoders and COPY treat specially.
  await sql`update recorder.p_blocks set extra = ${sql.json({ text: '\ufeff\\N\t\\.\n' })} where run_id = 1`;
  await sql`update recorder.node_identity set node_id = ${'\ufeff\\N\t\r\n\\.\n'} where run_id = 2`;
  await sql`update recorder.average_tps set value = ${`-0.${'0'.repeat(17)}1`} where run_id = 1`;
  await sql`update recorder.average_tps set value = ${`${'9'.repeat(50)}.${'1'.repeat(30)}`} where run_id = 2`;
  const readings = warehouseTables.find(({ name }) => name === 'validator_uptime');
  if (!readings) throw new Error('no readings');
  for (const hour of ['01', '02', '03'])
    await writeReadings(sql, readings, { at: `2026-10-01T${hour}:00:00Z`, run: 3, members: 9 });
  const closing = openSealConnection(database.url, 60_000);
  expect(await closeDays(closing, Date.UTC(2026, 10, 20), new AbortController().signal)).toMatchObject({
    failed: [],
  });
  await closing.end();
  await recordPoll(sql, { a: '1', b: '2' });
  await exportAll(false);

  await recordPoll(sql, { a: '1', b: '9007199254740993', c: '3' });
  for (const table of warehouseTables) await writeRows(sql, table, 101, 9);
  for (const { name, from, to } of warehouseTables)
    if (to !== null && name !== 'health_absences')
      await sql.unsafe(
        `update recorder.${name} set ${to} = ${from} + interval '2 hours' where ${to} is null and ${from} < '2026-11-02'`,
      );
  // An interval that the ledger withdrew.
  await sql`delete from recorder.node_health where ended_at is null and node = (select min(node) from recorder.node_health where ended_at is null)`;
  await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at, suspect, hour, entries)
    values ('o', 'n', 'p', 7, now(), '{"a": [1.50, "ä\\n"]}', now(), '\\x00ff5c')`;
  await seal();
  await exportAll(true);
  await recordPoll(sql, { b: '2', c: '3' });
  clock.now += 3 * 86_400_000;
  await seal();
  await exportAll(true);

  const { tables, doubts } = await restore(lake);
  expect(doubts).toEqual([]);
  expect(tables.find(({ table }) => table === 'p_blocks')?.rows).toBe(39);
  for (const table of warehouseTables) {
    const expected = await rowsInPostgres(sql, table);
    expect(expected.length, table.name).toBeGreaterThan(0);
    expect(await rowsInPostgres(there, table), table.name).toEqual(expected);
  }
  for (const name of bookkeepingTables) {
    const text = (on: postgres.Sql) => on.unsafe(`select t::text from recorder.${name} t order by 1`);
    expect([...(await text(there))], name).toEqual([...(await text(sql))]);
  }
  const [before, after] = [
    await verify({ databaseUrl: database.url }),
    await verify({ databaseUrl: empty.url }),
  ];
  expect(after).toEqual(before);
  expect(after).toMatchObject({ seal: 2, broken: [], differences: [] });

  // Both continue the same: the same versions end and start, and no number is used twice.
  const begin = clock.now;
  for (const on of [sql, there]) {
    clock.now = begin;
    await recordPoll(on, { b: '2', d: '4' });
  }
  const readChanged = (on: postgres.Sql) =>
    on`select node_id, weight, valid_from, valid_to, ended_by, run_id from recorder.validators where node = 'one' order by 1, 3`;
  expect([...(await readChanged(there))]).toEqual([...(await readChanged(sql))]);
  expect((await readChanged(there)).map(({ node_id }) => node_id)).toContain('d');

  await expect(restore(lake)).rejects.toThrow(/already contains a record/);
});

it('leaves nothing if it is stopped, or if a file differs from the exported one', async () => {
  await there.unsafe(
    `truncate ${[...new Set([...bookkeepingTables, ...warehouseTables.map(({ name }) => name), ...readingTables])].map((name) => `recorder.${name}`).join(', ')}`,
  );
  const stop = new AbortController();
  let files = 0;
  const progress = () => {
    files += 1;
    if (files === 40) stop.abort();
  };
  await expect(restore(lake, { signal: stop.signal, progress })).rejects.toThrow();
  expect(await countRows(there)).toBe(0);

  const damaged = join(folder, 'damaged');
  cpSync(lake, damaged, { recursive: true });
  const text = readFileSync(join(damaged, 'manifest.json'), 'utf8');
  const [path = ''] = /bookkeeping\/seal_parts\/[^"]+/.exec(text) ?? [];
  const bytes = readFileSync(join(damaged, path));
  bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
  writeFileSync(join(damaged, path), bytes);
  await expect(restore(damaged)).rejects.toThrow(/seal_parts.*differs from the exported file/);
  expect(await countRows(there)).toBe(0);
});

it('requires a restart if the database is lost within a file, or the bucket is unreachable', async () => {
  class Cutting extends DirectoryTarget {
    #fetched = 0;
    override async fetch(path: string): Promise<string> {
      this.#fetched += 1;
      if (this.#fetched === 40)
        await there`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'chain-recorder restore'`;
      return super.fetch(path);
    }
  }
  const lost = await restoreRecord({
    databaseUrl: empty.url,
    source: new Cutting(lake),
    signal: new AbortController().signal,
  }).catch((error: unknown) => error);
  expect(isDatabaseUnavailable(lost), String(lost)).toBe(true);
  expect(await countRows(there)).toBe(0);

  const s3 = {
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9', // a port without a server
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE00',
    AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI-secret',
  };
  const env = { DATABASE_URL: empty.url, ...s3 };
  const unreachable = await startCommand(['restore', '--from', 's3://bucket/lake'], env, folder).ended;
  expect(unreachable).toMatchObject({
    code: 75,
    stderr: expect.stringMatching(
      /s3:\/\/bucket\/lake: .*ECONNREFUSED[\s\S]*run "chain-recorder restore" again/,
    ),
  });
});

it('refuses an older export, or one of some datasets, with the fix', async () => {
  const old = join(folder, 'old');
  const target = new DirectoryTarget(old);
  const tables = warehouseTables.filter(({ name }) => name === 'p_blocks');
  const signal = new AbortController().signal;
  await exportTables({
    databaseUrl: database.url,
    target,
    tables,
    format: 'parquet',
    incremental: false,
    signal,
  });
  const env = { DATABASE_URL: empty.url };
  const refused = await startCommand(['restore', '--from', old], env, folder).ended;
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/holds p_blocks as rows only.*chain-recorder backup --to/),
  });
  const done = await startCommand(['restore', '--from', lake, '--json'], env, folder).ended;
  expect(done).toMatchObject({ code: 0 });
  expect(JSON.parse(done.stdout)).toMatchObject({ verified: { seal: 2, differences: [], broken: [] } });
});
