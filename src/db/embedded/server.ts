import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { connect, type NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { getSocketPath } from '../../config/database-url.ts';
import { InterruptedError, toErrorMessage, UsageError } from '../../lib/errors.ts';
import { postgresBinaries } from './binaries.ts';
import { makeCluster, refuseUnusableFiles } from './cluster.ts';
import { startFailure } from './failure.ts';
import { type FileLock, isLocked, waitForLock } from './file-lock.ts';
import { findStablePort, isPortFree } from './free-port.ts';
import { type EmbeddedHome, pathExists, processOptions } from './home.ts';
import { ownLocation, readServerRecord, removeServerRecord, writeServerRecord } from './record.ts';
import { replaceFile } from './replace-file.ts';
import { type Settings, StartFallbacks, writeSettings } from './settings.ts';

const run = promisify(execFile);

/** Maximum wait for a server that starts, recovers or stops, in ms. */
const READY_TIMEOUT_MS = 100_000;
const START_ATTEMPTS = 50;
/** Maximum length of the path of a Unix socket, in bytes. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Path of the server's lock. All processes of the server hold the lock from its start on, because they
 * inherit the descriptor. While one of these processes runs in any container of the host, no other server is
 * started on the same files.
 */
const serverLock = ({ path }: EmbeddedHome) => join(path, 'server.lock');

/**
 * Returns whether a process of the home's server runs on this host. A server that was started without the
 * lock is not detected.
 */
export const isServerAlive = (home: EmbeddedHome): boolean => isLocked(serverLock(home), home.account);

/**
 * Returns whether the home's server runs, including a server that a person started with `pg_ctl`, without the
 * lock.
 */
export async function isRunning(home: EmbeddedHome): Promise<boolean> {
  return isServerAlive(home) || (await hasVisibleServer(home)) || (await acceptsOnSocket(home));
}

/**
 * Returns whether the pid in the pid file is the pid of the home's server in this PID namespace. The working
 * directory of that process is the cluster.
 */
async function hasVisibleServer(home: EmbeddedHome): Promise<boolean> {
  const { pid } = await pidFile(home);
  return pid > 0 && (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === join(home.path, 'data');
}

/** Reads the server's own pid file. Numbers are 0 if the file is missing. */
async function pidFile({ path }: EmbeddedHome): Promise<{ pid: number; port: number; status: string }> {
  const file = await readFile(join(path, 'data', 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port, , , , status = ''] = file.split('\n').map((line) => line.trim());
  return { pid: Number(pid) || 0, port: Number(port) || 0, status };
}

/** Returns the folder of the server's Unix socket, or null if the path of the socket would be too long. */
export const socketFolder = ({ path }: EmbeddedHome): string | null =>
  Buffer.byteLength(getSocketPath({ host: path, port: 65_535 })) <= MAX_SOCKET_PATH_BYTES ? path : null;

/**
 * Returns the port of the server that runs in the home, once the server accepts connections. Returns
 * undefined if no server runs.
 * @throws UsageError if this process cannot connect to the server; InterruptedError if the signal aborted;
 * Error if the server does not accept connections within 100 s
 */
export async function runningServer(home: EmbeddedHome, signal?: AbortSignal): Promise<number | undefined> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (await isRunning(home)) {
    if (!sharesNetwork(home) && socketFolder(home) === null) throw unreachable(home);
    const { port, status } = await pidFile(home);
    // The status of a server that was killed just now is still `ready`.
    if (status === 'ready' && (await acceptsConnections(home, port))) return port;
    if (signal?.aborted) throw new InterruptedError();
    // The server starts, recovers or stops. The process that initiated this may be dead.
    if (performance.now() > deadline)
      throw new Error(
        `PostgreSQL in ${home.path} accepts no connections: see ${join(home.path, 'postgres.log')}`,
      );
    await delay(50);
  }
  return undefined;
}

const unreachable = ({ path }: EmbeddedHome) =>
  new UsageError([
    `${path}: another container runs the database of this folder, and the path of its socket is too long: ` +
      'mount the folder at a shorter path, or share the network of that container',
  ]);

/** Returns whether this process and the server are in the same network namespace of the same host. */
export function sharesNetwork(home: EmbeddedHome): boolean {
  const record = readServerRecord(home);
  const own = ownLocation();
  return record === null || (record.host === own.host && record.network === own.network);
}

/**
 * Returns true if the server accepts connections. Connects to the Unix socket if the server has one, because
 * another program may listen on the port of 127.0.0.1.
 */
const acceptsConnections = (home: EmbeddedHome, port: number): Promise<boolean> =>
  socketFolder(home) === null ? accepts({ host: '127.0.0.1', port }) : acceptsOnSocket(home);

async function acceptsOnSocket(home: EmbeddedHome): Promise<boolean> {
  const folder = socketFolder(home);
  const { port } = await pidFile(home);
  return folder !== null && port > 0 && (await accepts({ path: getSocketPath({ host: folder, port }) }));
}

function accepts(address: NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address)
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false))
      .once('connect', () => socket.destroy());
  });
}

/** A server that accepts connections. */
export interface StartedServer {
  readonly port: number;
  /** The usual port if another process uses it; undefined if the server has its usual port. */
  readonly occupiedPort: number | undefined;
  /** True if this start created the cluster, which is empty. */
  readonly created: boolean;
}

/**
 * Starts the server of a home in which no server runs, and creates its cluster if the cluster is missing.
 * Without `requestedPort`, the server listens on the port of its first start.
 * @param requestedPort port to listen on; undefined for the usual port
 * @param signal aborts the creation of the cluster
 * @throws UsageError with the fix if this system does not allow the server to start; Error with the server's
 * own log otherwise
 */
export async function startServer(
  home: EmbeddedHome,
  settings: Settings,
  requestedPort: number | undefined,
  signal?: AbortSignal,
): Promise<StartedServer> {
  const bin = await postgresBinaries(home);
  const data = join(home.path, 'data');
  const log = join(home.path, 'postgres.log');
  const created = !(await pathExists(data));
  if (created) await makeCluster(home, bin, signal);
  else await refuseUnusableFiles(home, data);
  if (await pathExists(log)) await rename(log, `${log}.1`);

  const lock = await waitForLock(serverLock(home), READY_TIMEOUT_MS, home.account);
  try {
    await renumberPidFiles(home);
    const usual = requestedPort ?? (await portOf(home));
    const fallbacks = new StartFallbacks();
    for (let attempt = 1; ; attempt += 1) {
      const port = (await isPortFree(usual)) ? usual : await findStablePort();
      const unix_socket_directories = socketFolder(home) ?? '';
      await writeSettings(
        data,
        { ...settings, ...fallbacks.settings, unix_socket_directories, port },
        home.account,
      );
      writeServerRecord(home, port);
      const failed = await startPostmaster(home, bin, lock);
      if (failed === null) return { port, occupiedPort: port === usual ? undefined : usual, created };
      const output = await readFile(log, 'utf8').catch(() => '');
      // Another process took the port first, or backends of a killed server have not ended yet.
      const passes = /Address already in use|pre-existing shared memory block/.test(output);
      if (!(passes || fallbacks.add(output)) || attempt === START_ATTEMPTS)
        throw startFailure(home.path, `${output}\n${toErrorMessage(failed)}`, failed);
      await rm(log, { force: true });
      if (passes) await delay(200);
    }
  } finally {
    lock.release();
  }
}

/**
 * Starts the postmaster, which inherits the lock, and waits until the postmaster accepts connections. Returns
 * the error, or null.
 */
async function startPostmaster(home: EmbeddedHome, bin: string, lock: FileLock): Promise<Error | null> {
  const args = ['start', '-D', 'data', '-l', 'postgres.log', '-w', '-t', '100'];
  const child = spawn(join(bin, 'pg_ctl'), args, {
    ...processOptions(home),
    stdio: ['ignore', 'ignore', 'pipe', lock.fd],
  });
  try {
    const [errors, [code]] = await Promise.all([
      child.stderr ? text(child.stderr) : '',
      once(child, 'close'),
    ]);
    return code === 0 ? null : new Error(errors.trim() || `pg_ctl exited with code ${code}`);
  } catch (error) {
    return error instanceof Error ? error : new Error(toErrorMessage(error));
  }
}

/** Returns the port of the home's first start, so that saved connection settings stay valid. */
async function portOf({ path, account }: EmbeddedHome): Promise<number> {
  const file = join(path, 'port');
  const saved = Number(await readFile(file, 'utf8').catch(() => ''));
  if (Number.isInteger(saved) && saved > 0 && saved <= 65_535) return saved;
  const port = await findStablePort();
  replaceFile(file, `${port}\n`, account);
  return port;
}

/**
 * Stops the server of the home, if the server runs in this PID namespace. Returns when all of its processes
 * have ended.
 * @throws Error if the server does not stop
 */
export async function stopServer(home: EmbeddedHome): Promise<void> {
  if (!(await isOwnServer(home)) || !(await isRunning(home))) return;
  const control = join(await postgresBinaries(home), 'pg_ctl');
  const stop = ['stop', '-D', 'data', '-w'];
  await run(control, [...stop, '-m', 'fast', '-t', '15'], processOptions(home)).catch(async () => {
    if (await isRunning(home))
      await run(control, [...stop, '-m', 'immediate', '-t', '5'], processOptions(home));
  });
  // pg_ctl returns when the pid file is removed, a moment before the last process ends.
  (await waitForLock(serverLock(home), READY_TIMEOUT_MS, home.account)).release();
  removeServerRecord(home);
}

/**
 * Returns whether the process ids of the server are valid for this process. In another PID namespace, these
 * ids belong to other processes.
 */
export async function isOwnServer(home: EmbeddedHome): Promise<boolean> {
  const record = readServerRecord(home);
  if (record === null) return hasVisibleServer(home);
  const own = ownLocation();
  return record.host === own.host && record.pids === own.pids;
}

/**
 * Replaces the process id in the pid files that a dead server left. PostgreSQL would mistake any process with
 * that id for the server, because a container has the same ids at every start. The caller holds the server's
 * lock, which proves that no process of such a server runs. The rest of the files stays unchanged, because
 * PostgreSQL uses the rest to detect whether backends still use the shared memory.
 */
async function renumberPidFiles({ path, account }: EmbeddedHome): Promise<void> {
  const sockets = (await readdir(path)).filter((name) => /^\.s\.PGSQL\.\d+\.lock$/.test(name));
  for (const file of [join('data', 'postmaster.pid'), ...sockets].map((name) => join(path, name))) {
    const content = await readFile(file, 'utf8').catch(() => undefined);
    if (content !== undefined && /^\d+\n/.test(content))
      replaceFile(file, content.replace(/^\d+/, NO_PROCESS), account);
  }
}

/** Process id above the maximum of every system. */
const NO_PROCESS = '999999999';
