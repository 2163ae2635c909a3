import { join } from 'node:path';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Closers } from '../../chaos/closers.ts';
import { PostgresPair } from '../../chaos/servers/postgres-pair.ts';
import { until } from '../../chaos/until.ts';
import { selectReadSource } from '../../src/app/read-source.ts';
import { type Database, openDatabase } from '../../src/db/client.ts';
import { ReadGate } from '../../src/db/read-gate.ts';
import { Replica, storeReplicaState } from '../../src/db/replica.ts';
import { describeFinding, findingGroups } from '../../src/reporting/reports/findings.ts';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { exportTables } from '../../src/warehouse/export.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { type PageServer, sendRequest, servePagesOf } from '../support/page-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const closers = new Closers();
let pair: PostgresPair;
let database: Database;
let primary: postgres.Sql;
let replica: Replica;
let server: PageServer;
let gate: ReadGate;
const dir = temporaryFolder('replica');
const never = new AbortController().signal;
const port = (url: string) => new URL(url).port;

beforeAll(async () => {
  pair = await PostgresPair.start(closers);
  database = openDatabase(pair.urls[0]);
  primary = database.reader;
  replica = new Replica(pair.urls[1]);
  gate = new ReadGate(pair.urls[0], {}, replica);
  server = await servePagesOf(pair.urls[0], { gate, replica });
});
afterAll(async () => {
  await server.close();
  await gate.close();
  await replica.close();
  await database.close();
  await closers.close();
});

/** Waits until the replica has replayed all changes of the primary. */
async function follows(): Promise<void> {
  await until('the replica to follow', async () => (await replica.check(primary)).lagBytes === 0);
}
const note = async () =>
  storeReplicaState(database.sql, 'recorder', replica.address, await replica.check(primary));
/** The values of `/metrics` are up to some seconds old. */
const metrics = () => expect.poll(async () => (await sendRequest(`${server.address}/metrics`)).body);
const findings = async () => (await findingGroups(primary)).map((one) => describeFinding(one, () => 'then'));
const query = (sql: string, more = '') =>
  sendRequest(`${server.address}/query.json?sql=${encodeURIComponent(sql)}${more}`);
const startExport = (databaseUrl: string) =>
  exportTables({
    ...{ databaseUrl, tables: warehouseTables.slice(0, 1), format: 'csv', incremental: true, signal: never },
    target: new DirectoryTarget(join(dir, 'lake')),
  });

describe('a replica', () => {
  it("serves pages, the API and users' queries, with the rights of the primary", async () => {
    await note();
    await follows();
    const page = await sendRequest(`${server.address}/datasets`);
    expect([page.code, page.body]).toEqual([200, expect.stringContaining('Read from a replica, as new as')]);
    expect((await sendRequest(`${server.address}/api/v1/datasets`)).code).toBe(200);
    expect((await sendRequest(`${server.address}/`)).code).toBe(200);
    expect(JSON.parse((await query('select inet_server_port() as port')).body)).toEqual([
      { port: Number(port(pair.urls[1])) },
    ]);
    const other = await query("select set_config('role', 'none', false)");
    expect(other.body).toContain('cannot set parameter \\"role\\" within security-definer function');
    const before = await query('select inet_server_port() as port', `&as_of=${new Date().toISOString()}`);
    expect(JSON.parse(before.body)).toEqual([{ port: Number(port(pair.urls[0])) }]);
    expect(await findings()).toEqual([]);
    await metrics().toContain(`chain_recorder_replica_readable{replica="${replica.address}"} 1`);
  });

  it('serves every page of rows and every view of reporting', async () => {
    const views = await primary<{ name: string }[]>`
      select oid::regclass::text as name from pg_class
      where relnamespace::regnamespace::text in ('reporting', 'reporting_lists', 'reporting_internal') and relkind = 'v'`;
    for (const { name } of views) await replica.sql.unsafe(`select * from ${name} limit 1`);
  });

  it('serves exports, unless it has less than was exported before', async () => {
    const first = await startExport(pair.urls[1]);
    pair.hold();
    await database.sql`create table public.more as select 1 as one`;
    const second = await startExport(pair.urls[0]);
    expect(second.manifest.export).toBe(first.manifest.export + 1);
    await expect(startExport(pair.urls[1])).rejects.toThrow('wait until the replica has caught up');
  });

  it('is reported if it is far behind', async () => {
    const { lagSeconds, lagBytes, error } = await replica.check(primary);
    expect([error, lagBytes]).toEqual([null, expect.toSatisfy((bytes: number) => bytes > 0)]);
    expect(lagSeconds).not.toBeNull();
    await storeReplicaState(database.sql, 'recorder', replica.address, {
      ...{ lagSeconds: 90, lagBytes, error, strange: false },
    });
    expect(await findings()).toEqual([
      expect.stringMatching(/^late since then: replica 127.*: the replica is 90 s behind/),
    ]);
    await metrics().toContain('replica_lag_seconds{');
  });

  it('is reported if it is unavailable; nothing reads the primary instead, and the recording continues', async () => {
    await pair.standby.crash();
    await note();
    expect(await findings()).toEqual([
      expect.stringMatching(/^failing since then: replica .*the replica does not respond/),
    ]);
    const page = await sendRequest(`${server.address}/datasets`);
    expect([page.code, page.headers['retry-after']]).toEqual([503, '10']);
    expect(page.body).toContain('Replica unavailable');
    const api = await sendRequest(`${server.address}/api/v1/datasets/node_validators/rows`);
    expect([api.code, api.body]).toEqual([503, expect.stringContaining('The replica cannot be read')]);
    expect((await sendRequest(`${server.address}/ready`)).code).toBe(200);
    await metrics().toContain(`chain_recorder_replica_readable{replica="${replica.address}"} 0`);
    await expect(selectReadSource({ replica, database, databaseUrl: '' })).rejects.toMatchObject({
      code: 'REPLICA_AWAY',
    });
    await database.sql`select 1`;
  });

  it('is not read any more after it was promoted', async () => {
    await pair.standby.start();
    await pair.promote();
    await until('it to answer', async () => (await replica.check(primary)).strange);
    expect((await sendRequest(`${server.address}/datasets`)).body).toContain('the replica was promoted');
    const app = { replica, database, databaseUrl: '' };
    await expect(selectReadSource(app)).rejects.toThrow('REPORTING_DATABASE_URL: the replica was promoted');
  });
});

describe('a server that is no replica', () => {
  it('is refused if it is another server, and reported if it is the primary itself', async () => {
    const other = new Replica(inject('databaseUrl'));
    expect(await other.check(primary)).toMatchObject({ strange: true, lagSeconds: null });
    await other.close();
    const same = new Replica(pair.urls[0]);
    expect(await same.check(primary)).toEqual({
      ...{ strange: false, lagSeconds: 0, lagBytes: 0, error: null },
    });
    await same.close();
  });
});
