import { closeSync, fchownSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Account } from './file-lock.ts';

/**
 * Replaces a file that only the server's account may read. If the path is a symbolic link, the link itself is
 * replaced, because the folder belongs to that account, and this process may be root.
 * @param account owner of the file. Default: the account of this process
 * @throws errors of the file system
 */
export function replaceFile(path: string, text: string, account: Account | undefined): void {
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true });
  const fd = openSync(unfinished, 'wx', 0o600);
  try {
    writeFileSync(fd, text);
    if (account) fchownSync(fd, account.uid, account.gid);
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, path);
}
