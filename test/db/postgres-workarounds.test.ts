import { setImmediate as turn } from 'node:timers/promises';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { openCommitPool } from '../../src/db/client.ts';
import { connect, connectPool } from '../../src/db/connect.ts';
import { isDatabaseUnavailable } from '../../src/db/connection-error.ts';
import { withDatabase } from '../support/fixture.ts';
import { loseAllConnections, waitUntilRunning } from '../support/lost-connections.ts';

const { it, database } = withDatabase();
let proxy: TcpProxy;
let watcher: postgres.Sql;
beforeAll(async () => {
  proxy = await TcpProxy.open(Number(new URL(database.url).port));
  watcher = client(database.url, 60_000);
});
afterAll(async () => {
  await watcher.end();
  await proxy.close();
});

const client = (url: string, silence: number) => connect(url, silence, { max: 1, onnotice: () => {} });

it('closes a connection that became silent during a statement, and the next one works', async () => {
  const sql = client(proxy.before(database.url), 1_500);
  expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
  proxy.weather = { kind: 'black-hole' };
  const error = await sql`select 2`.catch((failure: unknown) => failure);
  expect(isDatabaseUnavailable(error)).toBe(true);
  proxy.weather = { kind: 'fair' };
  expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
  await sql.end();
});

it('does not interrupt a slow statement, and reopens an idle connection', async () => {
  const sql = client(database.url, 1_500);
  const backend = async () =>
    (await sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(1)`)[0]?.pid;
  const first = await backend();
  const countConnections = async () =>
    (await watcher`select 1 from pg_stat_activity where pid = ${first ?? 0}`).length;
  await expect.poll(countConnections, { timeout: 10_000 }).toBe(0);
  expect(await backend()).not.toBe(first);
  await sql.end();
});

it('queries on a new connection when an idle one ends at that moment', async () => {
  const silence = 1_000;
  const sql = connectPool(database.url, silence, { max: 1, onnotice: () => {} });
  await sql`select 1`;
  const query = new Promise((resolve) => {
    setTimeout(() => resolve(sql`select 2 as n`), silence + 20);
  });
  // Nothing else runs meanwhile, so that both timers are due at once and the close is not reported in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, silence + 100);
  expect(await query).toEqual([{ n: 2 }]);
  await sql.end();
});

it('keeps a session as long as its silence limit, however slow its user is', async () => {
  const silence = 1_000;
  const sql = client(database.url, silence);
  const backend = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid;
  const first = await backend();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, silence * 0.7);
  await new Promise((resolve) => setTimeout(resolve, 1)); // after the timers that are due by now
  expect(await backend()).toBe(first);
  await sql.end();
});

it('fails like any connection if no server listens', async () => {
  const sql = client('postgres://127.0.0.1:1/none', 5_000);
  await expect(sql`select 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await sql.end();
});

describe.each(['end', 'reset'] as const)('a pool whose connections are all lost at once (%s)', (how) => {
  it('answers or fails queries of that moment, and answers all later ones', async () => {
    expect(await loseAllConnections(proxy, proxy.before(database.url), watcher, how)).toEqual([]);
  });
});

it('reports a server that closes before it responds, and queries once it does not', async () => {
  const sql = client(proxy.before(database.url), 5_000);
  proxy.weather = { kind: 'closing' };
  for (let time = 0; time < 3; time++)
    await expect(sql`select 1`).rejects.toMatchObject({
      code: 'CONNECTION_CLOSED',
      message: '127.0.0.1 closed the connection',
    });
  proxy.weather = { kind: 'fair' };
  expect(await sql`select 2 as n`).toEqual([{ n: 2 }]);
  await sql.end();
});

it('reports an unavailable database if a server ends while much data is being sent', async () => {
  const commits = openCommitPool(proxy.before(database.url), 1);
  const length = (text: string) => commits.unsafe('select length($1::text)', [text], { prepare: true });
  expect(await length('one')).toEqual([{ length: 3 }]);
  const failed = length('x'.repeat(50_000_000)).catch((failure: unknown) => failure);
  await turn();
  // Like a killed process: its connection ends first, and data that still arrives is answered with a reset.
  proxy.end();
  await turn();
  await turn();
  proxy.reset();
  const error = await failed;
  expect(isDatabaseUnavailable(error), String(error)).toBe(true);
  expect(await length('again')).toEqual([{ length: 5 }]);
  await commits.end({ timeout: 1 });
});

it('reports the reason of an ended session to its statement, and to no other', async () => {
  const sql = client(database.url, 60_000);
  for (const round of ['first', 'second']) {
    const slow = `select pg_sleep(30) as ${round}`;
    const failed = expect(sql.unsafe(slow)).rejects.toMatchObject({
      code: '57P01',
      message: 'terminating connection due to administrator command',
    });
    await waitUntilRunning(watcher, slow);
    const waiting = sql`select ${round} as round`;
    await watcher`select pg_terminate_backend(pid) from pg_stat_activity where query = ${slow}`;
    await failed;
    expect(await waiting).toEqual([{ round }]);
  }
  await sql.end();
});

it('cancels a statement on abort', async () => {
  const sql = client(proxy.before(database.url), 5_000);
  const query = sql`select pg_sleep(30)`;
  const failed = expect(query).rejects.toMatchObject({ code: '57014' });
  await waitUntilRunning(watcher, 'select pg_sleep(30)');
  query.cancel();
  await failed;
  expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
  await sql.end();
});
