import { UsageError } from '../../lib/errors.ts';
import { DYNAMIC_MEMORY_REFUSED } from './settings.ts';

/** A known limit of the system: the output of PostgreSQL's programs that reports the limit, and the fix. */
interface Cause {
  readonly pattern: RegExp;
  readonly fix: (match: RegExpExecArray, path: string) => string;
}

const OWN_DATABASE_FIX = 'or name a PostgreSQL of your own in DATABASE_URL';

const noPrograms = (path: string) =>
  `the file system of ${path} allows no programs (noexec): use a folder on another file system, ${OWN_DATABASE_FIX}`;

/** Returns the text for a full disk, with its fix. */
export const diskFullText = (path: string) =>
  `the disk of ${path} is full: free space on it, ${OWN_DATABASE_FIX}`;

const CAUSES: readonly Cause[] = [
  {
    pattern: /could not look up effective user ID (\d+)/,
    fix: ([, uid]) =>
      `the user id ${uid} has no name on this system, and PostgreSQL requires one: add it to /etc/passwd ` +
      `(echo "recorder:x:${uid}:0::/:/sbin/nologin" >> /etc/passwd), run as an existing user (with Docker: --user node), ${OWN_DATABASE_FIX}`,
  },
  {
    pattern: DYNAMIC_MEMORY_REFUSED,
    fix: () =>
      `the shared memory of this system (/dev/shm) is too small or not writable: give it 64 MB (with Docker: --shm-size 64m), ${OWN_DATABASE_FIX}`,
  },
  {
    pattern: /No space left on device|Disk quota exceeded|ENOSPC|EDQUOT|wrote only \d+ of \d+ bytes/,
    fix: (_, path) => diskFullText(path),
  },
  {
    pattern: /insufficient file descriptors|Too many open files|EMFILE/i,
    fix: () => `the limit of open files is too low: raise the limit (ulimit -n 1024), ${OWN_DATABASE_FIX}`,
  },
  {
    pattern: /Cannot allocate memory|ENOMEM/,
    fix: () => `this system has too little memory for PostgreSQL: give it 256 MB, ${OWN_DATABASE_FIX}`,
  },
  {
    pattern: /spawn \S+ EACCES/,
    fix: (_, path) => noPrograms(path),
  },
  {
    pattern: /spawn \S+ ENOENT|error while loading shared libraries: (\S+)/,
    fix: ([, library]) =>
      `PostgreSQL's programs lack ${library ?? 'the C library (glibc)'} on this system: install it, ${OWN_DATABASE_FIX}`,
  },
  {
    pattern: /EROFS|Read-only file system/i,
    fix: (_, path) =>
      `the file system of ${path} is read-only: use a folder on another file system, ${OWN_DATABASE_FIX}`,
  },
];

/** Returns the error for a folder in which no program of PostgreSQL can be executed. */
export const noProgramsError = (path: string): UsageError =>
  new UsageError([`embedded PostgreSQL did not start: ${noPrograms(path)}`]);

/**
 * Returns the error if root cannot change the owner of files to the server's account, or cannot run processes
 * as that account.
 */
export const restrictedRootError = (cause?: unknown): UsageError =>
  new UsageError(
    [
      'embedded PostgreSQL did not start: PostgreSQL refuses to run as root, and this root user lacks the capabilities to start it as the user postgres: run ' +
        `as another user (with Docker: --user node), allow the capabilities CHOWN, SETUID and SETGID, ${OWN_DATABASE_FIX}`,
    ],
    { cause },
  );

/**
 * Returns the error for programs of PostgreSQL that failed: a UsageError with the fix if the cause is a known
 * limit of the system.
 * @param output output of the programs
 */
export function startFailure(path: string, output: string, cause: unknown): Error {
  const known = knownLimit(path, output);
  if (known !== null) return new UsageError([`embedded PostgreSQL did not start: ${known}`], { cause });
  const lines = output
    .slice(-2000)
    .split('\n')
    .map((line) => line.trim());
  return new Error(`embedded PostgreSQL did not start: ${lines.filter(Boolean).join('; ')}`, { cause });
}

/** Returns the known limit of the system that output of PostgreSQL's programs reports, with its fix, or null. */
export function knownLimit(path: string, output: string): string | null {
  for (const { pattern, fix } of CAUSES) {
    const match = pattern.exec(output);
    if (match) return fix(match, path);
  }
  return null;
}
