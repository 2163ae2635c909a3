import { readdirSync, rmSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InterruptedError, TemporaryError, toErrorMessage, UsageError } from '../../lib/errors.ts';
import { explainWriteErrors } from '../../lib/write-errors.ts';
import { isDatabaseUnavailable } from '../connection-error.ts';
import { diskFullText, knownLimit } from './failure.ts';
import { FileLock, withFileLock } from './file-lock.ts';
import { refuseWithoutLoopback } from './free-port.ts';
import { type EmbeddedHome, type EmbeddedLog, embeddedHome } from './home.ts';
import { ownLocation, refuseOtherHost, startHeartbeat } from './record.ts';
import {
  isOwnServer,
  isRunning,
  isServerAlive,
  runningServer,
  sharesNetwork,
  socketFolder,
  startServer,
  stopServer,
} from './server.ts';
import type { Settings } from './settings.ts';

/** Interval of the check whether the server runs, in ms. */
const SUPERVISION_INTERVAL_MS = 1_000;
/** Maximum number of consecutive failed restarts. */
const MAX_RESTARTS = 5;

/** Pause after the first failed restart, in ms. The pause doubles with each failure. */
const FIRST_BACKOFF_MS = 1_000;
/** Length of the end of the server's log in which the cause of a failure is searched, in characters. */
const LOG_TAIL_CHARACTERS = 5_000;

/** Size of a file of PostgreSQL's write-ahead log, in bytes. */
const WAL_SEGMENT_BYTES = 16 * 1024 * 1024;

/** An embedded PostgreSQL in use by this process. */
export interface EmbeddedPostgres {
  /**
   * The URL of the database `recorder` on the server, from this process: TCP, or the Unix socket in the
   * folder of the server if 127.0.0.1 belongs to another container.
   */
  url: string;
  /** TCP port of the server on 127.0.0.1. */
  port: number;
  /** True if this call started the server; false if the server was already running. */
  started: boolean;
  /** True if this call created the database, which is then empty. */
  created: boolean;
  /**
   * True if the server's process ids are valid in this process; false if the server runs in another
   * container.
   */
  ownNamespace: boolean;
  /**
   * Restarts the server when it ends unexpectedly, until the signal aborts.
   * @throws TemporaryError if the server cannot be restarted, or only on another port
   */
  supervise(signal: AbortSignal): Promise<void>;
  /**
   * Returns the error with the fix if the server failed because of a known limit of the system, such as a full
   * disk. Returns null otherwise.
   */
  explainFailure(failure: unknown): Promise<UsageError | null>;
  /**
   * Ends the use of the server. Stops the server if no other process of this PID namespace uses the server.
   * Can be called again.
   */
  close(): Promise<void>;
}

/** Folder and log of the embedded server, and PostgreSQL settings in addition to the recorder's. */
export interface EmbeddedOptions {
  dir: string;
  log: EmbeddedLog;
  settings?: Settings;
  /** Port of the server. Default: the port of its first start. */
  port?: number | undefined;
  /** Aborts the wait for other processes and the creation of the database. */
  signal?: AbortSignal | undefined;
}

/**
 * Uses the PostgreSQL server of `dir`. Starts the server if it does not run, and creates its database if the
 * database is missing. The server listens on 127.0.0.1, on the same port at every start. If another process
 * uses that port, the server listens on another port, and a warning is logged.
 * @throws UsageError if the folder is not writable, another host uses the folder, or this system does not
 * allow PostgreSQL to run or to be reached
 * @throws InterruptedError if the signal aborted
 * @throws Error if the PostgreSQL package is not installed, or, with the server's log, if the server does not
 * start
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const fix =
    'run chain-recorder in a directory that this user may write to, or name a PostgreSQL of your own in DATABASE_URL';
  try {
    return await explainWriteErrors(options.dir, () => useServer(options), fix);
  } catch (error) {
    // Retries cannot succeed while the disk is full.
    throw isDiskFull(error) ? new UsageError([toErrorMessage(error)], { cause: error }) : error;
  }
}

const isDiskFull = (error: unknown) =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  ['ENOSPC', 'EDQUOT'].includes(String(error.cause.code));

/** Runs work while no other process starts or stops the server of a home. */
export const withStartLock = <T>(
  home: EmbeddedHome,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => withFileLock(join(home.path, 'start.lock'), work, { account: home.account, signal });

async function useServer(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dir, log, signal } = options;
  if (signal?.aborted) throw new InterruptedError();
  const home = await embeddedHome(dir, log);
  const { port, created, started, use } = await withStartLock(
    home,
    async () => ({ ...(await findOrStart(home, options)), use: registerUser(home) }),
    signal,
  );
  log.info({ dir, port }, started ? 'embedded PostgreSQL started' : 'embedded PostgreSQL found running');

  const stopHeartbeat = startHeartbeat(home);
  const close = async () => {
    stopHeartbeat();
    await withStartLock(home, async () => {
      use.release();
      if (isUsed(usersFile(home)) || !(await isOwnServer(home))) return;
      await stopServer(home);
      log.info({ dir }, 'embedded PostgreSQL stopped');
    });
  };
  let closed: Promise<void> | undefined;
  return {
    url: await urlOf(home, port),
    port,
    started,
    created,
    ownNamespace: await isOwnServer(home),
    supervise: (signal) => supervise(home, options, port, signal),
    explainFailure: (failure) => explainFailure(home, failure),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

async function explainFailure(home: EmbeddedHome, failure: unknown): Promise<UsageError | null> {
  if (!isDatabaseUnavailable(failure) && !lacksResources(failure)) return null;
  const log = await readFile(join(home.path, 'postgres.log'), 'utf8').catch(() => '');
  const output = `${toErrorMessage(failure)}\n${log.slice(-LOG_TAIL_CHARACTERS)}`;
  const reason =
    knownLimit(home.path, output) ?? ((await hasFullDisk(home.path)) ? diskFullText(home.path) : null);
  return reason === null
    ? null
    : new UsageError([`embedded PostgreSQL failed: ${reason}`], { cause: failure });
}

/**
 * Returns whether the disk has too little free space for the next file of PostgreSQL's write-ahead log.
 * PostgreSQL's own log is on the same disk, so the log may lack the reason why the server ended. Returns
 * false if the free space is unknown.
 */
async function hasFullDisk(path: string): Promise<boolean> {
  const room = await statfs(path).catch(() => null);
  if (room === null) return false;
  return room.bavail * room.bsize < WAL_SEGMENT_BYTES || (room.files > 0 && room.ffree === 0);
}

/**
 * Returns whether PostgreSQL reports insufficient resources (SQLSTATE class 53). A diagnosis of the server,
 * which may be restarting by then, has this error as its cause.
 */
const lacksResources = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && String(error.code).startsWith('53')) || lacksResources(error.cause));

/** Finds the server of a home, or starts it. The caller holds the start lock. */
async function findOrStart(
  home: EmbeddedHome,
  { dir, log, settings = {}, port: requestedPort, signal }: EmbeddedOptions,
): Promise<{ port: number; created: boolean; started: boolean }> {
  await refuseOtherHost(home, isServerAlive(home));
  const found = await runningServer(home, signal);
  if (found === undefined || sharesNetwork(home)) await refuseWithoutLoopback();
  if (found !== undefined) return { port: found, created: false, started: false };
  log.info({ dir }, 'starting embedded PostgreSQL');
  const { port, occupiedPort, created } = await startServer(home, settings, requestedPort, signal);
  if (occupiedPort !== undefined)
    log.warn(
      { dir, port, taken: occupiedPort },
      `another program uses port ${occupiedPort}: embedded PostgreSQL uses port ${port}; to use port ${occupiedPort} again, end that program and restart`,
    );
  return { port, created, started: true };
}

/** Returns the URL of the database for this process. */
async function urlOf(home: EmbeddedHome, port: number): Promise<string> {
  const password = await readFile(join(home.path, 'password'), 'utf8');
  const folder = socketFolder(home);
  return sharesNetwork(home) || folder === null
    ? `postgres://recorder:${password}@127.0.0.1:${port}/recorder`
    : `postgres://recorder:${password}@localhost:${port}/recorder?host=${encodeURIComponent(folder)}`;
}

/**
 * Restarts the server whenever it has ended unexpectedly. Every recorder that uses the server runs this
 * function; the start lock permits only one restart at a time.
 * @throws TemporaryError if the restarts fail
 */
async function supervise(
  home: EmbeddedHome,
  options: EmbeddedOptions,
  port: number,
  signal: AbortSignal,
): Promise<void> {
  const { dir, log } = options;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  for (let failures = 0; !signal.aborted; ) {
    await pause(failures === 0 ? SUPERVISION_INTERVAL_MS : FIRST_BACKOFF_MS * 2 ** (failures - 1));
    if (signal.aborted || (await isRunning(home))) continue;
    log.warn({ dir }, 'embedded PostgreSQL ended unexpectedly: it is restarted');
    try {
      const found = await withStartLock(home, () => findOrStart(home, options));
      if (found.port !== port)
        throw new Error(
          `another program uses the port ${port} of the server: stop that program, or set RECORDER_PG_PORT and restart`,
        );
      log.info({ dir, port }, 'embedded PostgreSQL restarted');
      failures = 0;
    } catch (cause) {
      failures += 1;
      if (failures < MAX_RESTARTS && !(cause instanceof UsageError)) {
        log.warn({ dir, failures, error: toErrorMessage(cause) }, 'embedded PostgreSQL was not restarted');
        continue;
      }
      throw new TemporaryError(
        `embedded PostgreSQL in ${dir} ended and was not restarted: ${toErrorMessage(cause)}`,
        { cause },
      );
    }
  }
}

/**
 * Returns the lock file of the users in this PID namespace. Users in other containers are not counted,
 * because each of them ends with its own container.
 */
function usersFile(home: EmbeddedHome): string {
  return join(home.path, `users-${/\d+/.exec(ownLocation().pids)?.[0] ?? 'all'}.lock`);
}

/** Registers this process as a user of the server. The caller holds the start lock. */
function registerUser(home: EmbeddedHome): FileLock {
  const own = usersFile(home);
  for (const file of usersFiles(home)) if (file !== own && !isUsed(file)) rmSync(file, { force: true });
  const lock = FileLock.try(own, { shared: true, account: home.account });
  if (!lock) throw new Error(`${own} is locked by another program`);
  return lock;
}

const usersFiles = ({ path }: EmbeddedHome): string[] =>
  readdirSync(path)
    .filter((name) => /^users-\w+\.lock$/.test(name))
    .map((name) => join(path, name));

/** Returns whether any process holds a shared lock on a file. */
function isUsed(file: string): boolean {
  const lock = FileLock.try(file);
  lock?.release();
  return lock === null;
}
