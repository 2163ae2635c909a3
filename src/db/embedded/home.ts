import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  access,
  chmod,
  chown,
  constants,
  mkdir,
  mkdtemp,
  realpath,
  rename,
  rmdir,
  stat,
  symlink,
} from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '../../lib/errors.ts';
import { createFolder, explainWriteErrors } from '../../lib/write-errors.ts';
import { restrictedRootError } from './failure.ts';
import type { Account } from './file-lock.ts';

const run = promisify(execFile);
const systemHomes = '/var/lib/chain-recorder';

/**
 * The folder of the embedded server's data, and the account that the server runs as; undefined for the
 * account of this process.
 */
export interface EmbeddedHome {
  path: string;
  account: Account | undefined;
}

/** The log of the embedded server, compatible with pino's loggers. */
export interface EmbeddedLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Finds or creates the home of the server of `dir`: the folder `postgres` in `dir`. PostgreSQL refuses to run
 * as root, so root gives the folder to the account `postgres`. If that account has no permission to enter `dir`, the
 * folder is created under /var/lib/chain-recorder, and `dir` contains a symbolic link to it.
 * @throws UsageError with the fix if root has no permission to run the server as another user; errors of the file system
 */
export async function embeddedHome(dir: string, log: EmbeddedLog): Promise<EmbeddedHome> {
  const folder = resolve(dir);
  const entrance = join(folder, 'postgres');
  const isRoot = process.getuid?.() === 0;
  await createFolder(folder);
  if (!isRoot) await mkdir(entrance, { recursive: true, mode: 0o700 });
  else if (!(await pathExists(entrance))) await makeForRoot(entrance, folder, log);

  const path = await realpath(entrance);
  const { uid, gid } = await stat(path);
  return { path, account: isRoot ? { uid, gid } : undefined };
}

/**
 * Returns whether the account may execute a file or enter a folder.
 * @param account undefined for the account of this process
 */
export async function canExecute(account: Account | undefined, path: string): Promise<boolean> {
  try {
    if (account) await run('/bin/sh', ['-c', 'test -x "$0"', path], { ...account, cwd: '/' });
    else await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the options of a process that runs as the account of the server. */
export function processOptions({ account, path }: EmbeddedHome) {
  // Paths are relative to the home, because pg_ctl passes them to a shell, quoted but not escaped. The
  // environment of this process is not passed: it contains secrets, and PostgreSQL obeys PG* variables.
  return { ...account, cwd: path, env: { LC_ALL: 'C' } };
}

/** Returns whether a path exists. Broken links count as missing. */
export async function pathExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function makeForRoot(entrance: string, dir: string, log: EmbeddedLog): Promise<void> {
  const account = await serverAccount();
  if (!(await canExecute(account, '/bin/sh'))) throw restrictedRootError();
  if (await canExecute(account, dir)) return await makeOwned(entrance, account);

  const path = join(systemHomes, createHash('sha256').update(dir).digest('hex').slice(0, 16));
  const fix = `allow the user postgres to enter ${dir} and the folders above it (chmod o+x), or name a PostgreSQL of your own in DATABASE_URL`;
  await explainWriteErrors(
    `embedded PostgreSQL: ${systemHomes}`,
    async () => {
      await createFolder(systemHomes);
      await chmod(systemHomes, 0o755);
      await makeOwned(path, account);
    },
    fix,
  );
  await symlink(path, entrance).catch(async (error) => {
    if (!(await pathExists(entrance))) throw error;
  });
  log.warn(
    { dir, path },
    'embedded PostgreSQL keeps its data elsewhere: its user has no permission to enter the directory',
  );
}

/**
 * Creates the folder under a temporary name, and renames the folder after its owner is set. So the folder
 * never has a wrong owner under its final name.
 */
async function makeOwned(path: string, { uid, gid }: Account): Promise<void> {
  if (await pathExists(path)) return;
  const unfinished = await mkdtemp(`${path}-`);
  await chown(unfinished, uid, gid).catch(async (error) => {
    await rmdir(unfinished);
    throw restrictedRootError(error);
  });
  await rename(unfinished, path).catch(async (error) => {
    await rmdir(unfinished);
    if (!(await pathExists(path))) throw error;
  });
}

async function serverAccount(): Promise<Account> {
  try {
    return await accountOf('postgres').catch(async () => {
      const flags = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
      await run('useradd', [...flags, 'postgres']);
      return await accountOf('postgres');
    });
  } catch (cause) {
    throw new UsageError(
      [
        'embedded PostgreSQL did not start: PostgreSQL refuses to run as root, and the user postgres does not exist and could not be created: create this user ' +
          '(useradd --system postgres), run as another user, or name a PostgreSQL of your own in DATABASE_URL',
      ],
      { cause },
    );
  }
}

async function accountOf(name: string): Promise<Account> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
