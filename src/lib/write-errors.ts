import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from './errors.ts';

const notPermitted = (path: string) =>
  `this user has no permission to write to ${path || 'it'}: grant write access, or`;
const fileInsteadOfFolder = (path: string) => `${fileAbove(path)} is a file, where a folder has to be:`;
const full = () => 'the disk is full: free disk space, or';

/**
 * Texts of write errors by system error code. The fix is appended to the text. `path` is the path in the
 * error; empty if the error has no path.
 */
const WRITE_ERROR_TEXTS: Readonly<Record<string, (path: string) => string>> = {
  EACCES: notPermitted,
  EPERM: notPermitted,
  EROFS: () => 'the file system is read-only:',
  ENOTDIR: fileInsteadOfFolder,
  EEXIST: fileInsteadOfFolder,
  ENOENT: (path) => `there is no folder ${dirname(resolve(path))}: create it, or`,
  ELOOP: (path) => `${path} is a symbolic link, which is not followed: remove it, or`,
  ENAMETOOLONG: () => 'the name is too long:',
  ENOSPC: full,
  EDQUOT: full,
};

const OTHER_PLACE_FIX = 'name another place';

/**
 * Runs a write and converts errors of the file system into messages for the user.
 * @param place target with the option or the setting that names it, such as `--to /var/lake`
 * @param fix how to fix an unwritable target
 * @throws UsageError if the target is not writable; Error if the disk is full; any other error of `write`
 * unchanged
 */
export async function explainWriteErrors<Written>(
  place: string,
  write: () => Promise<Written>,
  fix = OTHER_PLACE_FIX,
): Promise<Written> {
  try {
    return await write();
  } catch (error) {
    throw toWriteError(error, place, fix) ?? error;
  }
}

/**
 * Creates a folder and its missing parents.
 * @throws the error of the system
 */
export async function createFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    // For some causes, a recursive mkdir of Node.js only reports ENOENT. A second mkdir reports the actual
    // cause.
    if (codeOf(error) === 'ENOENT') await mkdir(pathOf(error));
    throw error;
  }
}

/**
 * Rejects a path that contains a symbolic link in place of a folder, because writes and removals would happen
 * elsewhere. The root folder itself may be a link.
 * @param path path relative to the folder, with slashes
 * @throws UsageError that names the link
 */
export async function rejectSymlinks(folder: string, path: string, place: string): Promise<void> {
  const parents = dirname(path) === '.' ? [] : dirname(path).split('/');
  for (let depth = 1; depth <= parents.length; depth += 1) {
    const part = join(folder, ...parents.slice(0, depth));
    const found = await lstat(part).catch(() => null);
    if (found === null) return;
    if (found.isSymbolicLink())
      throw new UsageError([
        `${place}: ${part} is a symbolic link, which is not followed: remove it, or ${OTHER_PLACE_FIX}`,
      ]);
  }
}

/**
 * Checks that a file can be written, before anything is written. The file need not exist.
 * @throws UsageError if the file cannot be written
 */
export function assertWritable(place: string, file: string): void {
  if (file === '') throw new UsageError([`${place.trim()}: is empty: ${OTHER_PLACE_FIX}`]);
  const there = existsSync(file);
  if (there && statSync(file).isDirectory())
    throw new UsageError([`${place}: is a folder: name a file in it, or ${OTHER_PLACE_FIX}`]);
  try {
    accessSync(there ? file : dirname(resolve(file)), constants.W_OK);
  } catch (error) {
    throw toWriteError(error, place, OTHER_PLACE_FIX, file) ?? error;
  }
}

/**
 * Converts an error of the file system into a message for the user. Returns null for other errors.
 * @param path path of the failed write. Default: the path in the error.
 */
function toWriteError(error: unknown, place: string, fix: string, path = pathOf(error)): Error | null {
  const code = codeOf(error);
  // The folder exists, so a file in the folder is missing. This is not a write error of the target.
  if (code === 'ENOENT' && existsSync(dirname(resolve(path)))) return null;
  const why = WRITE_ERROR_TEXTS[code];
  if (!why) return null;
  const message = `${place}: ${why(path)} ${fix}`;
  return why === full ? new Error(message, { cause: error }) : new UsageError([message], { cause: error });
}

/**
 * Returns the code of an error of the file system. Returns an empty text for other errors, such as connection
 * errors, which use the same codes.
 */
function codeOf(error: unknown): string {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return '';
  return error.syscall === 'connect' ? '' : String(error.code);
}

const pathOf = (error: unknown): string =>
  error instanceof Error && 'path' in error ? String(error.path) : '';

/**
 * Returns the nearest parent of a path that is a file instead of a folder. Returns the path itself if there
 * is no such parent.
 */
function fileAbove(path: string): string {
  for (let at = resolve(path); at !== dirname(at); at = dirname(at))
    if (existsSync(at) && statSync(at).isFile()) return at;
  return path;
}
