import { closeSync, fchownSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, UsageError } from '../../lib/errors.ts';

/** A system account by its numbers. */
export interface Account {
  uid: number;
  gid: number;
}

/** The part of `fs-native-extensions` that is used. The operating system holds its locks for an open file description. */
interface NativeLocks {
  tryLock(fd: number, options: { shared: boolean }): boolean;
}

const RETRY_INTERVAL_MS = 25;
const LOCK_TIMEOUT_MS = 120_000;

/**
 * A lock of the operating system on a file. All processes of the host that open the same file see the lock, in whatever container they
 * run. The lock ends with the last process that has the descriptor open: child processes that inherit the descriptor keep the lock.
 */
export class FileLock {
  /** The descriptor that holds the lock, for a child process to inherit. */
  readonly fd: number;
  #released = false;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /**
   * Locks a file, which is created where it is missing.
   * @param shared other shared locks may exist beside this one; false: no other lock
   * @param account the owner of a created file; absent: this process's own account
   * @returns null if another process holds a lock that excludes this one
   * @throws errors of the file system; UsageError if the package for locks cannot be loaded
   */
  static try(path: string, { shared = false, account }: LockOptions = {}): FileLock | null {
    const fd = openSync(path, 'a+', 0o600);
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

  /** Ends the lock, unless a child process has inherited it. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    closeSync(this.fd);
  }
}

/** How a file is locked. */
export interface LockOptions {
  readonly shared?: boolean;
  readonly account?: Account | undefined;
}

/** Whether any process of this host holds an exclusive lock on a file. */
export function isLocked(path: string, account?: Account): boolean {
  const probe = FileLock.try(path, { shared: true, account });
  probe?.release();
  return probe === null;
}

/**
 * Runs work while no other process does so with the same file, and returns its result. The file names the holder, for people.
 * @param timeout maximum wait for the lock, in ms
 * @throws Error that names the holder after the timeout; errors of `work`
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  { account, timeout = LOCK_TIMEOUT_MS }: { account?: Account | undefined; timeout?: number } = {},
): Promise<T> {
  const lock = await waitForLock(path, timeout, account);
  try {
    ftruncateSync(lock.fd);
    writeSync(lock.fd, `process ${process.pid} on ${hostname()}`);
    return await work();
  } finally {
    lock.release();
  }
}

/** Waits for an exclusive lock. @throws Error that names the holder after `timeout` ms */
export async function waitForLock(path: string, timeout: number, account?: Account): Promise<FileLock> {
  const deadline = performance.now() + timeout;
  for (;;) {
    const lock = FileLock.try(path, { account });
    if (lock) return lock;
    if (performance.now() > deadline)
      throw new Error(
        `${path} is locked for more than ${timeout / 1000} s by ${readFileSync(path, 'utf8') || 'another process'}`,
      );
    await delay(RETRY_INTERVAL_MS);
  }
}

let loaded: NativeLocks | undefined;

/** Loads the package when the first lock is needed: a database of one's own needs none. */
function nativeLocks(): NativeLocks {
  if (loaded) return loaded;
  try {
    const found: unknown = createRequire(import.meta.url)('fs-native-extensions');
    if (!hasLocks(found)) throw new Error('fs-native-extensions has no tryLock');
    loaded = found;
    return loaded;
  } catch (cause) {
    const reason = messageOf(cause).split('\n')[0];
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
