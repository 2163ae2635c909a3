import { readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, TemporaryError, UsageError } from '../../lib/errors.ts';
import { writingTo } from '../../lib/write-errors.ts';
import { FileLock, withFileLock } from './file-lock.ts';
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

/** Interval of the check whether the server still runs, ms. */
const SUPERVISION_INTERVAL_MS = 1_000;
/** Maximum number of restarts in a row that fail, and the first pause between them, which doubles, ms. */
const MAX_RESTARTS = 5;
const FIRST_BACKOFF_MS = 1_000;

/** An embedded PostgreSQL in use by this process. */
export interface EmbeddedPostgres {
  /** The URL of its database `recorder` from this process: by TCP, or by the socket in its folder where 127.0.0.1 is another container's. */
  url: string;
  /** Its TCP port on 127.0.0.1. */
  port: number;
  /** Whether this call started the server; false: it ran already. */
  started: boolean;
  /** Whether this call made its database, which is empty. */
  made: boolean;
  /** Whether its process numbers are valid in this process; false: it runs in another container. */
  ownNamespace: boolean;
  /**
   * Restarts the server when it ends by itself, until the signal aborts.
   * @throws TemporaryError if it does not start any more, or only elsewhere
   */
  supervise(signal: AbortSignal): Promise<void>;
  /** Ends the use, and the server too when no other process of this PID namespace uses it. Can be called again. */
  close(): Promise<void>;
}

/** The folder and the log of the embedded server, and PostgreSQL settings in addition to the recorder's. */
export interface EmbeddedOptions {
  dir: string;
  log: EmbeddedLog;
  settings?: Settings;
  /** Where it listens; absent: on the port of its first start. */
  port?: number | undefined;
}

/**
 * Uses the PostgreSQL server of `dir`. If none runs, it starts one, and makes its database first if there is none. The
 * server listens on 127.0.0.1, on the same port at every start; where another process has that port, on another one, and says so.
 * @throws UsageError when the folder may not be written, another host uses it, or this system does not let PostgreSQL run; Error when the
 * PostgreSQL package is not installed, or with the server's log when it does not start
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const fix =
    'run chain-recorder in a directory that this user may write to, or name a PostgreSQL of your own in DATABASE_URL';
  try {
    return await writingTo(options.dir, () => useServer(options), fix);
  } catch (error) {
    // Without room nothing can be started, however often it is tried.
    throw isDiskFull(error) ? new UsageError([messageOf(error)], { cause: error }) : error;
  }
}

const isDiskFull = (error: unknown) =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  ['ENOSPC', 'EDQUOT'].includes(String(error.cause.code));

/** Runs work while no other process starts or stops the server of a home. */
export const withStartLock = <T>(home: EmbeddedHome, work: () => Promise<T>): Promise<T> =>
  withFileLock(join(home.path, 'start.lock'), work, { account: home.account });

async function useServer(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dir, log } = options;
  const home = await embeddedHome(dir, log);
  const { port, made, started, use } = await withStartLock(home, async () => ({
    ...(await findOrStart(home, options)),
    use: enrol(home),
  }));
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
    made,
    ownNamespace: await isOwnServer(home),
    supervise: (signal) => supervise(home, options, port, signal),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Finds the server of a home, or starts it. The caller holds the start lock. */
async function findOrStart(
  home: EmbeddedHome,
  { dir, log, settings = {}, port: wanted }: EmbeddedOptions,
): Promise<{ port: number; made: boolean; started: boolean }> {
  await refuseOtherHost(home, isServerAlive(home));
  const found = await runningServer(home);
  if (found !== undefined) return { port: found, made: false, started: false };
  const { port, taken, made } = await startServer(home, settings, wanted);
  if (taken !== undefined)
    log.warn(
      { dir, port, taken },
      `another program has port ${taken}: embedded PostgreSQL took ${port} for this time; what connects to ${taken} reaches it again once that program has ended`,
    );
  return { port, made, started: true };
}

/** The URL of the database for this process. */
async function urlOf(home: EmbeddedHome, port: number): Promise<string> {
  const password = await readFile(join(home.path, 'password'), 'utf8');
  const folder = socketFolder(home);
  return sharesNetwork(home) || folder === null
    ? `postgres://recorder:${password}@127.0.0.1:${port}/recorder`
    : `postgres://recorder:${password}@localhost:${port}/recorder?host=${encodeURIComponent(folder)}`;
}

/**
 * Restarts the server whenever it ended by itself. Every recorder that uses it may do so: the start lock lets one of them.
 * @throws TemporaryError
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
    log.warn({ dir }, 'embedded PostgreSQL ended without having been stopped: restarting it');
    try {
      const found = await withStartLock(home, () => findOrStart(home, options));
      if (found.port !== port) throw new Error(`another program has its port ${port}`);
      log.info({ dir, port }, 'embedded PostgreSQL restarted');
      failures = 0;
    } catch (cause) {
      failures += 1;
      if (failures < MAX_RESTARTS && !(cause instanceof UsageError)) {
        log.warn({ dir, failures, error: messageOf(cause) }, 'embedded PostgreSQL was not restarted');
        continue;
      }
      throw new TemporaryError(
        `embedded PostgreSQL in ${dir} ended and was not restarted: ${messageOf(cause)}`,
        { cause },
      );
    }
  }
}

/** The lock file of the users in this PID namespace. Users elsewhere end with their own container, whatever is stopped here. */
function usersFile(home: EmbeddedHome): string {
  return join(home.path, `users-${/\d+/.exec(ownLocation().pids)?.[0] ?? 'all'}.lock`);
}

/** Enters this process among the users of the server. The caller holds the start lock. */
function enrol(home: EmbeddedHome): FileLock {
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

/** Whether any process holds a shared lock on a file. */
function isUsed(file: string): boolean {
  const lock = FileLock.try(file);
  lock?.release();
  return lock === null;
}
