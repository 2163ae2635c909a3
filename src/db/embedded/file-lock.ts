import { closeSync, constants, fchownSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { InterruptedError, toErrorMessage, UsageError } from '../../lib/errors.ts';

/** A system account: user id and group id. */
export interface Account {
  uid: number;
  gid: number;
}

/**
 * The part of `fs-native-extensions` that is used. The operating system binds its locks to an open file
 * description.
 */
interface NativeLocks {
  tryLock(fd: number, options: { shared: boolean }): boolean;
}

/**
 * The flags of `a+`, except that a symbolic link is not followed. The folder belongs to the server's account,
 * and this process may be root.
 */
const OPEN_FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
const RETRY_INTERVAL_MS = 25;
const LOCK_TIMEOUT_MS = 120_000;

/**
 * A lock of the operating system on a file. All processes of the host that open the same file share the lock,
 * also across containers. The lock ends with the last process that has the descriptor open, including child
 * processes that inherit the descriptor.
 */
export class FileLock {
  /** The descriptor that holds the lock, for a child process to inherit. */
  readonly fd: number;
  #released = false;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /**
   * Locks a file, which is created if it is missing.
   * @param shared true for a lock that permits other shared locks at the same time. Default: false, an
   * exclusive lock
   * @param account the owner of a created file. Default: the account of this process
   * @returns null if another process holds a conflicting lock
   * @throws errors of the file system; UsageError if the package for locks cannot be loaded
   */
  static try(path: string, { shared = false, account }: LockOptions = {}): FileLock | null {
    const fd = openSync(path, OPEN_FLAGS, 0o600);
    try {
      if (account) fchownSync(fd, account.uid, account.gid);
      if (nativeLocks().tryLock(fd, { shared })) return new FileLock(fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    return null;
  }

  /** Closes the descriptor. This releases the lock, unless a child process has inherited the descriptor. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    closeSync(this.fd);
  }
}

/** Options of a file lock. */
export interface LockOptions {
  readonly shared?: boolean;
  readonly account?: Account | undefined;
}

/** Options of the wait for a lock. */
interface WaitOptions {
  readonly account?: Account | undefined;
  /** Maximum wait, in ms. Default: two minutes. */
  readonly timeout?: number;
  /** Ends the wait, not the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns whether any process of this host holds an exclusive lock on a file. */
export function isLocked(path: string, account?: Account): boolean {
  const probe = FileLock.try(path, { shared: true, account });
  probe?.release();
  return probe === null;
}

/**
 * Runs work under an exclusive lock on a file, and returns its result. The file contains the process id and
 * host of the holder, for people.
 * @throws Error that names the holder after the timeout; InterruptedError if the signal aborted; errors of `work`
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  { account, timeout = LOCK_TIMEOUT_MS, signal }: WaitOptions = {},
): Promise<T> {
  const lock = await waitForLock(path, timeout, account, signal);
  try {
    ftruncateSync(lock.fd);
    writeSync(lock.fd, `process ${process.pid} on ${hostname()}`);
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Waits for an exclusive lock.
 * @throws Error that names the holder after `timeout` ms; InterruptedError if the signal aborted
 */
export async function waitForLock(
  path: string,
  timeout: number,
  account?: Account,
  signal?: AbortSignal,
): Promise<FileLock> {
  const deadline = performance.now() + timeout;
  for (;;) {
    const lock = FileLock.try(path, { account });
    if (lock) return lock;
    if (signal?.aborted) throw new InterruptedError();
    if (performance.now() > deadline)
      throw new Error(
        `${path} has been locked for more than ${timeout / 1000} s by ${readFileSync(path, 'utf8') || 'another process'}`,
      );
    await delay(RETRY_INTERVAL_MS);
  }
}

let loaded: NativeLocks | undefined;

/** Loads the package when the first lock is needed. Locks are needed for the embedded server only. */
function nativeLocks(): NativeLocks {
  if (loaded) return loaded;
  try {
    const found: unknown = createRequire(import.meta.url)('fs-native-extensions');
    if (!hasLocks(found)) throw new Error('fs-native-extensions has no tryLock');
    loaded = found;
    return loaded;
  } catch (cause) {
    const reason = toErrorMessage(cause).split('\n')[0];
    throw new UsageError(
      [
        `no embedded PostgreSQL: fs-native-extensions cannot be loaded (${reason}): run \`npm install --include=optional\`, on a file ` +
          'system that allows programs, or name a PostgreSQL of your own in DATABASE_URL',
      ],
      { cause },
    );
  }
}

const hasLocks = (found: unknown): found is NativeLocks =>
  typeof found === 'object' && found !== null && 'tryLock' in found && typeof found.tryLock === 'function';
