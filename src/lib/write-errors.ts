import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from './errors.ts';

const mayNot = (path: string) => `this user may not write to ${path || 'it'}: let it, or`;
const inTheWay = (path: string) => `${fileAbove(path)} is a file, where a folder has to be:`;
const full = () => 'the disk is full: make room on it, or';

/** Why the system does not let somebody write, by its code, up to the mend. The path is what it named; empty: none. */
const REFUSALS: Readonly<Record<string, (path: string) => string>> = {
  EACCES: mayNot,
  EPERM: mayNot,
  EROFS: () => 'the disk takes no writes:',
  ENOTDIR: inTheWay,
  EEXIST: inTheWay,
  ENOENT: (path) => `there is no folder ${dirname(resolve(path))}: make it, or`,
  ENAMETOOLONG: () => 'the name is too long:',
  ENOSPC: full,
  EDQUOT: full,
};

const ELSEWHERE = 'name another place';

/**
 * Writes, and tells in words where the system does not let this user.
 * @param place what was named, with the option or the setting that names it, such as `--to /var/lake`
 * @param mend what to do where it is no place to write to
 * @throws UsageError when it is no place to write to; Error when the disk is full; whatever else `write` throws
 */
export async function writingTo<Written>(
  place: string,
  write: () => Promise<Written>,
  mend = ELSEWHERE,
): Promise<Written> {
  try {
    return await write();
  } catch (error) {
    throw refusal(error, place, mend) ?? error;
  }
}

/** Makes a folder and those above it, where they are not there. @throws the reason of the system */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    // Of some reasons Node.js says only that nothing is there.
    if (codeOf(error) === 'ENOENT') await mkdir(pathOf(error));
    throw error;
  }
}

/**
 * Refuses a path with a symbolic link in place of a folder, because what is written or removed there would be somewhere else. The folder
 * that was named may be a link itself.
 * @param path below the folder, with slashes
 * @throws UsageError that names the link
 */
export async function refuseLinks(folder: string, path: string, place: string): Promise<void> {
  const parents = dirname(path) === '.' ? [] : dirname(path).split('/');
  for (let depth = 1; depth <= parents.length; depth += 1) {
    const part = join(folder, ...parents.slice(0, depth));
    const found = await lstat(part).catch(() => null);
    if (found === null) return;
    if (found.isSymbolicLink())
      throw new UsageError([
        `${place}: ${part} is a symbolic link, which is not followed: remove it, or ${ELSEWHERE}`,
      ]);
  }
}

/** @throws UsageError when a file cannot be written, before anything is; it need not be there yet */
export function refuseUnwritable(place: string, file: string): void {
  if (file === '') throw new UsageError([`${place.trim()}: names no file: ${ELSEWHERE}`]);
  const there = existsSync(file);
  if (there && statSync(file).isDirectory())
    throw new UsageError([`${place}: is a folder: name a file in it, or ${ELSEWHERE}`]);
  try {
    accessSync(there ? file : dirname(resolve(file)), constants.W_OK);
  } catch (error) {
    throw refusal(error, place, ELSEWHERE, file) ?? error;
  }
}

/**
 * What is told of an error of the file system; null: it is another error.
 * @param path what it is about; absent: what it says itself
 */
function refusal(error: unknown, place: string, mend: string, path = pathOf(error)): Error | null {
  const code = codeOf(error);
  // A file that is missing among others is another matter.
  if (code === 'ENOENT' && existsSync(dirname(resolve(path)))) return null;
  const why = REFUSALS[code];
  if (!why) return null;
  const told = `${place}: ${why(path)} ${mend}`;
  return why === full ? new Error(told, { cause: error }) : new UsageError([told], { cause: error });
}

/** The code of an error of the file system; empty: it is another error, such as one of a connection, which has the same codes. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return '';
  return error.syscall === 'connect' ? '' : String(error.code);
}

const pathOf = (error: unknown): string =>
  error instanceof Error && 'path' in error ? String(error.path) : '';

/** The file that is in the place of a folder of a path, or the path itself. */
function fileAbove(path: string): string {
  for (let at = resolve(path); at !== dirname(at); at = dirname(at))
    if (existsSync(at) && statSync(at).isFile()) return at;
  return path;
}
