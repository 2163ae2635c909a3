import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { UsageError } from '../errors.ts';
import { installing, majorOf, postgresBinaries } from './embedded-binaries.ts';
import { type EmbeddedHome, exists } from './embedded-home.ts';
import { isFree, lastingPort } from './free-port.ts';
import { processStart } from './process-lock.ts';

const run = promisify(execFile);

/** PostgreSQL settings by name. */
export type Settings = Readonly<Record<string, string | number>>;

// ALTER SYSTEM still wins over these: it writes postgresql.auto.conf.
const recorderSettings: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 80,
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  log_checkpoints: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/**
 * The port of the server that runs in the home, once it takes connections; undefined when none runs.
 * @throws Error when it is still on its way after 100 s
 */
export async function runningServer(home: EmbeddedHome): Promise<number | undefined> {
  const deadline = Date.now() + 100_000;
  for (;;) {
    const server = await postmaster(home);
    if (!server) return undefined;
    // The status of a server that was killed just now is still `ready`.
    if (server.status === 'ready' && (await takesConnections(server.port))) return server.port;
    // It starts, recovers or stops. The process that began this may be dead.
    if (Date.now() > deadline)
      throw new Error(`PostgreSQL (process ${server.pid}) is still "${server.status}"`);
    await wait(50);
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false))
      .once('connect', () => socket.destroy());
  });
}

/** A server that takes connections. */
export interface StartedServer {
  readonly port: number;
  /** The port that it should have had, which another process has; undefined: it has the port that it should have. */
  readonly taken: number | undefined;
  /** Its cluster was made just now, and is empty. */
  readonly made: boolean;
}

/**
 * Starts a server where none runs, its cluster made first if there is none. It listens on the port of its first start.
 * @param wanted listen there instead; undefined: as ever
 * @throws Error with the server's own log when it does not start
 */
export async function startServer(
  home: EmbeddedHome,
  settings: Settings,
  wanted: number | undefined,
): Promise<StartedServer> {
  const bin = await postgresBinaries(home);
  const data = join(home.path, 'data');
  await finishUpgrade(home);
  const log = join(home.path, 'postgres.log');
  const made = !(await exists(data));
  if (made) await makeCluster(home, bin);
  else await refuseOtherVersion(home, data);
  await disownPidFile(join(data, 'postmaster.pid'));
  if (await exists(log)) await rename(log, `${log}.1`);

  const usual = wanted ?? (await portOf(home));
  for (let attempt = 1; ; attempt += 1) {
    const port = (await isFree(usual)) ? usual : await lastingPort();
    await writeFile(join(data, 'postgresql.conf'), configuration({ ...recorderSettings, ...settings, port }));
    try {
      await run(
        join(bin, 'pg_ctl'),
        ['start', '-D', 'data', '-l', 'postgres.log', '-w', '-t', '100'],
        processOptions(home),
      );
      return { port, taken: port === usual ? undefined : usual, made };
    } catch (cause) {
      const output = await readFile(log, 'utf8').catch(() => '');
      // Another process took the port first, or backends of a killed server have not ended yet.
      const passing = /Address already in use|pre-existing shared memory block/.test(output);
      if (!passing || attempt === 50)
        throw new Error(`embedded PostgreSQL did not start\n${output.slice(-2000)}`, { cause });
      await rm(log, { force: true });
      await wait(200);
    }
  }
}

/** PostgreSQL reads no files of another major version. @throws UsageError that says how to go on with them */
async function refuseOtherVersion(home: EmbeddedHome, data: string): Promise<void> {
  const files = await filesMajor(data);
  const installed = await majorOf(home);
  if (files === null || files === installed) return;
  throw new UsageError([
    `${home.path}: holds files of PostgreSQL ${files}, and the embedded one is ${installed} now: ` +
      `run "${installing(files, '/tmp/postgres-before')}", ` +
      'and here "chain-recorder upgrade --binaries /tmp/postgres-before"',
  ]);
}

/** The major version whose files a cluster has; null: there is none. */
export async function filesMajor(data: string): Promise<number | null> {
  const version = await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => '');
  return version === '' ? null : Number.parseInt(version, 10);
}

/** A cluster of this name in the home is whole, and takes the place of the one that is there. */
export const UPGRADED = 'data.upgraded';

/** Puts an upgraded cluster in its place, where it stands ready; the one before stays beside it. A kill at any moment loses nothing. */
export async function finishUpgrade({ path }: EmbeddedHome): Promise<void> {
  const ready = join(path, UPGRADED);
  if (!(await exists(ready))) return;
  const data = join(path, 'data');
  const major = await filesMajor(data);
  if (major !== null) {
    const kept = join(path, `data-${major}`);
    await rename(data, (await exists(kept)) ? `${kept}-${Date.now()}` : kept);
  }
  await rename(ready, data);
}

/** The port that the home was given at its first start, so that connections that people saved work again. */
async function portOf({ path }: EmbeddedHome): Promise<number> {
  const file = join(path, 'port');
  const saved = Number(await readFile(file, 'utf8').catch(() => ''));
  if (Number.isInteger(saved) && saved > 0 && saved <= 65_535) return saved;
  const port = await lastingPort();
  await writeFile(file, `${port}\n`);
  return port;
}

/** Stops the server of the home, if one runs, and returns when it is gone. @throws Error when it does not go */
export async function stopServer(home: EmbeddedHome): Promise<void> {
  const server = await postmaster(home);
  if (!server) return;
  const control = join(await postgresBinaries(home), 'pg_ctl');
  const stop = ['stop', '-D', 'data', '-w'];
  await run(control, [...stop, '-m', 'fast', '-t', '15'], processOptions(home)).catch(async () => {
    if (await postmaster(home))
      await run(control, [...stop, '-m', 'immediate', '-t', '5'], processOptions(home));
  });
  // pg_ctl returns when the pid file is gone, a moment before the server's process ends.
  while (await processStart(server.pid)) await wait(5);
}

/** Makes the cluster under another name first, so that an interrupted start leaves no cluster that looks complete. */
async function makeCluster(home: EmbeddedHome, bin: string): Promise<void> {
  const { account } = home;
  const leftOver = (await readdir(home.path)).filter((name) => name.startsWith('data.new-'));
  // A killed process's initdb may still be writing there; for the same reason the next one gets a new name.
  for (const name of leftOver)
    await rm(join(home.path, name), { recursive: true, force: true, maxRetries: 10 });
  const unfinished = await mkdtemp(join(home.path, 'data.new-'));
  const password = join(home.path, 'password');
  await writeFile(password, randomBytes(24).toString('hex'), { mode: 0o600 });
  if (account) for (const path of [unfinished, password]) await chown(path, account.uid, account.gid);

  const cluster = basename(unfinished);
  const initdb = ['-D', cluster, '-U', 'recorder', '--pwfile', 'password', '-A', 'scram-sha-256'];
  await run(join(bin, 'initdb'), [...initdb, '-E', 'UTF8', '--locale=C'], processOptions(home));
  const single = ['--single', '-D', cluster, '-c', 'exit_on_error=on', 'postgres'];
  const creating = run(join(bin, 'postgres'), single, processOptions(home));
  creating.child.stdin?.end('create database recorder\n');
  await creating;
  await rename(unfinished, join(home.path, 'data'));
}

async function postmaster(home: EmbeddedHome) {
  const data = join(home.path, 'data');
  const file = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const [number, , , port, , , , status] = file.split('\n').map((line) => line.trim());
  const pid = Number(number);
  if (!pid || !(await processStart(pid))) return undefined;
  // A server's working directory is its cluster. Another process may have got the number of a dead server.
  if (process.platform === 'linux' && (await readlink(`/proc/${pid}/cwd`).catch(() => '')) !== data)
    return undefined;
  return { pid, port: Number(port), status };
}

/**
 * Removes the process number from the pid file of a dead server. PostgreSQL would mistake any process with that number
 * for the server. From the rest of the file PostgreSQL finds out whether backends of the dead server still use the data.
 */
async function disownPidFile(path: string): Promise<void> {
  const left = await readFile(path, 'utf8').catch(() => undefined);
  if (left === undefined) return;
  const noProcess = '999999999';
  if (/^\d+\n/.test(left)) await writeFile(path, left.replace(/^\d+/, noProcess));
  else await rm(path);
}

function configuration(settings: Settings): string {
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'\n`,
  );
  return lines.join('');
}

function processOptions({ account, path }: EmbeddedHome) {
  // Paths are given from the home, because pg_ctl hands them to a shell, quoted but not escaped. And nothing of this
  // process's environment: it holds secrets, and PostgreSQL obeys PG* variables.
  return { ...account, cwd: path, env: { LC_ALL: 'C' } };
}
