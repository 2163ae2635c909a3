import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { connect } from '../../../src/db/connect.ts';
import { openEmbedded } from '../../../src/db/embedded/embedded.ts';
import { isLocked } from '../../../src/db/embedded/file-lock.ts';
import { embeddedHome } from '../../../src/db/embedded/home.ts';
import { isServerAlive, stopServer } from '../../../src/db/embedded/server.ts';
import { canUnshare, type NamespaceUser, startInNamespace } from '../../support/pid-namespace.ts';

const ROUNDS = 6;
const log = { info: () => {}, warn: () => {} };
const userLine = z.object({ url: z.string(), started: z.boolean() });
const users = new Set<NamespaceUser>();
let place: string;
let dir: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'namespaces-'));
  await chmod(place, 0o755);
  dir = join(place, '.recorder');
});
afterEach(async () => {
  for (const user of users) await user.kill();
  users.clear();
  const home = await embeddedHome(dir, log);
  await stopServer(home);
  await expect.poll(() => isServerAlive(home)).toBe(false);
  await rm(home.path, { recursive: true, force: true });
  await rm(place, { recursive: true, force: true });
});

async function start(more: readonly string[] = []) {
  const user = await startInNamespace(dir, more);
  users.add(user);
  if (user.line === null) throw new Error(await user.errors);
  return { ...user, ...userLine.parse(JSON.parse(user.line)) };
}

async function query(url: string, text: string): Promise<readonly postgres.Row[]> {
  const sql = connect(url, 10_000, { max: 1, onnotice: () => {}, connect_timeout: 5 });
  return await sql.unsafe(text).finally(() => sql.end({ timeout: 1 }));
}

describe.skipIf(!canUnshare)('processes in several PID namespaces', () => {
  it('share one server, which only its own namespace stops', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 7 as value');
    const pidFile = join(dir, 'postgres/data/postmaster.pid');
    const before = await readFile(pidFile, 'utf8');
    const second = await start();
    expect([second.started, second.url]).toEqual([false, first.url]);
    expect(await readFile(pidFile, 'utf8')).toBe(before);
    expect(await second.close()).toBe(0);
    expect(isServerAlive(await embeddedHome(dir, log))).toBe(true);
    expect(await query(first.url, 'select value from kept')).toEqual([{ value: 7 }]);
    expect(await first.close()).toBe(0);
    expect(isServerAlive(await embeddedHome(dir, log))).toBe(false);
  });

  it('wait for a server that accepts no connections yet, and start no second one', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 7 as value');
    const { path } = await embeddedHome(dir, log);
    const [name = ''] = (await readdir(path)).filter((one) => /^\.s\.PGSQL\.\d+$/.test(one));
    const [socket, hidden] = [join(path, name), join(path, 'hidden')];
    // As during recovery: its process id belongs to another namespace, and its socket is missing.
    await rename(socket, hidden);
    const starting = start();
    await expect.poll(() => isLocked(join(path, 'start.lock')), { timeout: 60_000 }).toBe(true);
    expect(isServerAlive(await embeddedHome(dir, log))).toBe(true);
    await rename(hidden, socket);
    const second = await starting;
    expect([second.started, second.url]).toEqual([false, first.url]);
    expect(await query(second.url, 'select value from kept')).toEqual([{ value: 7 }]);
    await second.close();
    await first.close();
  });

  it('connect by its socket if 127.0.0.1 is another one', async () => {
    const first = await start();
    const second = await start(['--net']);
    expect([second.started, new URL(second.url).searchParams.get('host')]).toEqual([
      false,
      (await embeddedHome(dir, log)).path,
    ]);
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.close();
    await first.close();
  });

  it.each(['kill', 'close'] as const)('restart it once its namespace ended, by %s', async (end) => {
    const first = await start();
    await query(first.url, 'create table kept as select 7 as value');
    const second = await start();
    await first[end]();
    const { path } = await embeddedHome(dir, log);
    // A killed server responds until its namespace ended: only the log of an earlier server proves the restart.
    const readEarlierLog = () => readFile(join(path, 'postgres.log.1'), 'utf8');
    await expect.poll(() => readEarlierLog().catch(() => null), { timeout: 60_000 }).not.toBeNull();
    await expect
      .poll(() => query(second.url, 'select value from kept').catch(() => null), { timeout: 60_000 })
      .toEqual([{ value: 7 }]);
    // The process that started it shuts it down, although others use it: it cannot outlive its namespace.
    expect(/database system is shut down/.test(await readEarlierLog())).toBe(end === 'close');
    await second.close();
    expect(isServerAlive(await embeddedHome(dir, log))).toBe(false);
  });

  it('are refused while another host has the folder, and served once its heartbeat stopped', async () => {
    const first = await start();
    const { path } = await embeddedHome(dir, log);
    // Every user of a server renews its heartbeat, for other hosts to see.
    const past = new Date(Date.now() - 3_600_000);
    await utimes(join(path, 'server.json'), past, past);
    await expect
      .poll(async () => (await stat(join(path, 'server.json'))).mtimeMs)
      .toBeGreaterThan(past.getTime() + 60_000);
    await first.close();
    const record = { host: 'another', pids: 'pid:[1]', network: 'net:[1]', hostname: 'other-host', port: 1 };
    const beat = () => writeFile(join(path, 'server.json'), JSON.stringify(record));
    await beat();
    const timer = setInterval(() => void beat(), 1_000);
    await expect(openEmbedded({ dir, log })).rejects.toThrow('the host "other-host" runs the database');
    clearInterval(timer);
    const server = await openEmbedded({ dir, log });
    expect(server.started).toBe(true);
    await server.close();
  });

  it('do not treat a copy of the folder as the server of the original', async () => {
    const first = await start();
    await query(first.url, 'checkpoint');
    const copied = join(place, 'copy', '.recorder');
    const { path } = await embeddedHome(dir, log);
    await cp(path, join(copied, 'postgres'), {
      recursive: true,
      filter: (name) => !name.includes('.s.PGSQL'),
      preserveTimestamps: true,
    });
    const home = await embeddedHome(copied, log);
    expect(isServerAlive(home)).toBe(false);
    await first.close();
  });

  it(`lose no commit in ${ROUNDS} rounds with kills of either`, async () => {
    const recorders = [await start(), await start()];
    const url = recorders[0]?.url ?? '';
    await query(url, 'create table committed (n int primary key)');
    let acknowledged = 0;
    const outcomes = { served: 0, refused: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const over = new AbortController();
      const writing = (async () => {
        while (!over.signal.aborted) {
          const done = await query(
            url,
            `insert into committed values (${acknowledged}) on conflict do nothing`,
          ).then(
            () => true,
            () => false,
          );
          if (done) acknowledged += 1;
        }
      })();
      const victim = recorders[round % 2];
      const command = startInNamespace(dir);
      await victim?.kill();
      const other = await command;
      users.add(other);
      if (other.line === null) expect(await other.errors).toMatch(/\S/);
      outcomes[other.line === null ? 'refused' : 'served'] += 1;
      if (other.line !== null) await other.close();
      recorders[round % 2] = await start();
      over.abort();
      await writing;
    }
    await expect
      .poll(() => query(url, 'select count(*)::int as n from committed').catch(() => null), {
        timeout: 60_000,
      })
      .toEqual([{ n: acknowledged }]);
    const { path } = await embeddedHome(dir, log);
    const logs = await Promise.all(
      ['postgres.log', 'postgres.log.1'].map((name) => readFile(join(path, name), 'utf8').catch(() => '')),
    );
    expect(logs.join('\n')).not.toMatch(
      /PANIC|checksum|could not locate a valid checkpoint|invalid record length at 0\/0/,
    );
    console.log(`${ROUNDS} rounds: ${acknowledged} commits`, outcomes);
    for (const one of recorders) await one.close();
  });
});
