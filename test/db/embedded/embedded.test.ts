import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded } from '../../../src/db/embedded/embedded.ts';
import { startFailure } from '../../../src/db/embedded/failure.ts';
import { embeddedHome } from '../../../src/db/embedded/home.ts';
import { isServerAlive } from '../../../src/db/embedded/server.ts';
import { keepInitdbChoices, StartFallbacks, writeSettings } from '../../../src/db/embedded/settings.ts';
import { TemporaryError, UsageError } from '../../../src/lib/errors.ts';

const log = { info: () => {}, warn: () => {} };
let place: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'embedded-'));
  await chmod(place, 0o755);
});
afterEach(async () => {
  await rm(place, { recursive: true, force: true });
});

it('restarts a killed server on its port, with the committed rows', async () => {
  const dir = join(place, '.recorder');
  const server = await openEmbedded({ dir, log });
  const stop = new AbortController();
  const supervised = server.supervise(stop.signal);
  const select = async (text: string) => {
    const sql = postgres(server.url, { max: 1, onnotice: () => {} });
    return await sql.unsafe(text).finally(() => sql.end({ timeout: 1 }));
  };
  await select('create table kept as select 7 as value');
  const home = await embeddedHome(dir, log);
  const { path } = home;
  // The server's processes hold the lock, so that it outlives the recorder that started it.
  expect(isServerAlive(home)).toBe(true);
  const postmaster = async () =>
    Number((await readFile(join(path, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);
  const killed = await postmaster();
  process.kill(killed, 'SIGKILL');
  await expect
    .poll(() => select('select value from kept').catch(() => null), { timeout: 25_000 })
    .toEqual([{ value: 7 }]);
  expect(await postmaster()).not.toBe(killed);
  stop.abort();
  await supervised;
  await server.close();
  await rm(path, { recursive: true, force: true });
});

it('exits with a temporary error when an ended server cannot be restarted', async () => {
  const dir = join(place, '.recorder');
  const server = await openEmbedded({ dir, log });
  const { path } = await embeddedHome(dir, log);
  const supervised = server.supervise(new AbortController().signal);
  const refused = expect(supervised).rejects.toThrow(
    /\.recorder ended and was not restarted: .*holds files of PostgreSQL 17/,
  );
  const [pid] = (await readFile(join(path, 'data/postmaster.pid'), 'utf8')).split('\n');
  await writeFile(join(path, 'data/PG_VERSION'), '17\n');
  process.kill(Number(pid), 'SIGKILL');
  await refused;
  await expect(supervised).rejects.toBeInstanceOf(TemporaryError);
  await server.close();
  await rm(path, { recursive: true, force: true });
});

describe('the configuration', () => {
  const writeConfiguration = async (initdb: string, settings = {}) => {
    const cluster = join(place, 'data');
    await mkdir(cluster, { recursive: true });
    await writeFile(join(cluster, 'postgresql.conf'), initdb);
    await keepInitdbChoices(cluster);
    await writeSettings(cluster, settings);
    return [
      await readFile(join(cluster, 'initdb.conf'), 'utf8'),
      await readFile(join(cluster, 'postgresql.conf'), 'utf8'),
    ];
  };

  it('keeps the values that initdb chose for this system, and requests no more connections than it allows', async () => {
    const initdb =
      'max_connections = 40\t# (change requires restart)\ndynamic_shared_memory_type = sysv\nshared_buffers = 400kB\n';
    const [kept, own] = await writeConfiguration(initdb);
    expect(kept).toBe(initdb);
    expect(own).toMatch(/^include_if_exists 'initdb.conf'\n/);
    expect(own).toContain("max_connections = '40'");
    expect(own).not.toMatch(/dynamic_shared_memory_type|shared_buffers/);
  });

  it("has the recorder's own limit if initdb allows more, and a given value has priority", async () => {
    expect((await writeConfiguration('max_connections = 100\n'))[1]).toContain("max_connections = '80'");
    expect((await writeConfiguration('max_connections = 100\n', { max_connections: 200 }))[1]).toContain(
      "max_connections = '200'",
    );
  });

  it('falls back step by step on a system that allows less than the one that created the cluster', () => {
    const fallbacks = new StartFallbacks();
    const refused = 'FATAL:  could not open shared memory segment "/PostgreSQL.1": Read-only file system';
    expect([fallbacks.add(refused), fallbacks.settings]).toEqual([
      true,
      { dynamic_shared_memory_type: 'sysv' },
    ]);
    expect([fallbacks.add(refused), fallbacks.settings]).toEqual([
      true,
      { dynamic_shared_memory_type: 'mmap' },
    ]);
    expect(fallbacks.add(refused)).toBe(false);
    expect(fallbacks.add('FATAL:  could not map anonymous shared memory: Cannot allocate memory')).toBe(true);
    expect(fallbacks.settings).toMatchObject({ shared_buffers: '16MB' });
  });
});

it.each([
  [
    'initdb: error: could not look up effective user ID 12345: user does not exist',
    /the user id 12345 has no name.*\/etc\/passwd/,
  ],
  [
    'FATAL:  could not resize shared memory segment "/PostgreSQL.1" to 1048576 bytes: No space left on device',
    /shared memory of this system \(\/dev\/shm\).*--shm-size 64m/,
  ],
  ['FATAL:  could not write to file "pg_wal/xlogtemp.9": No space left on device', /disk of \/place is full/],
  [
    'FATAL:  could not extend file "base/1/2": wrote only 4096 of 8192 bytes at block 1',
    /disk of \/place is full/,
  ],
  ['FATAL:  insufficient file descriptors available to start server process', /ulimit -n/],
  ['spawn /place/native-18/bin/initdb EACCES', /noexec/],
  ['spawn /place/bin/initdb ENOENT', /glibc/],
  [
    'initdb: error while loading shared libraries: libz.so.1: cannot open shared object file',
    /lack libz\.so\.1/,
  ],
])('explains the fix of a limit of the system: %s', (output, fix) => {
  const failure = startFailure('/place', output, undefined);
  expect(failure).toBeInstanceOf(UsageError);
  expect(failure.message).toMatch(fix);
});
