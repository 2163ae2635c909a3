import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { InterruptedError, toErrorMessage, UsageError } from '../../lib/errors.ts';
import { packageFile } from '../../lib/package-file.ts';
import { installedMajor } from './binaries.ts';
import { startFailure } from './failure.ts';
import { type EmbeddedHome, processOptions } from './home.ts';
import { replaceFile } from './replace-file.ts';
import { keepInitdbChoices, StartFallbacks } from './settings.ts';

const run = promisify(execFile);

/** SQL that revokes the rights with which readers could stop a recording. */
const LIMIT_READERS_FILE = packageFile('drizzle/limit-readers.sql');

/**
 * Creates the cluster under a temporary name first, so that an interrupted start leaves no incomplete cluster
 * under the final name.
 * @throws UsageError with the fix if this system does not allow PostgreSQL to run; InterruptedError if the
 * signal aborted; Error with the output of initdb otherwise
 */
export async function makeCluster(home: EmbeddedHome, bin: string, signal?: AbortSignal): Promise<void> {
  const { account } = home;
  const leftOver = (await readdir(home.path)).filter((name) => name.startsWith('data.new-'));
  // The initdb of a killed process may still write to its folder. For the same reason, each new folder has a
  // new name.
  for (const name of leftOver)
    await rm(join(home.path, name), { recursive: true, force: true, maxRetries: 10 });
  const unfinished = await mkdtemp(join(home.path, 'data.new-'));
  const password = join(home.path, 'password');
  replaceFile(password, randomBytes(24).toString('hex'), account);
  if (account) await chown(unfinished, account.uid, account.gid);

  const cluster = basename(unfinished);
  try {
    await initCluster(home, bin, cluster, signal);
    for (const [database, statement] of [
      ['postgres', 'create database recorder;'],
      ['recorder', await readFile(LIMIT_READERS_FILE, 'utf8')],
    ] as const) {
      if (signal?.aborted) throw new InterruptedError();
      await runSingle(home, bin, cluster, database, statement);
    }
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 10 });
    if (signal?.aborted) throw new InterruptedError({ cause: error });
    throw startFailure(home.path, toErrorMessage(error), error);
  }
  await keepInitdbChoices(unfinished);
  await rename(unfinished, join(home.path, 'data'));
}

/** Runs a statement in a database of a cluster without a server. */
async function runSingle(
  home: EmbeddedHome,
  bin: string,
  cluster: string,
  database: string,
  statement: string,
): Promise<void> {
  const args = ['--single', '-j', '-D', cluster, '-c', 'exit_on_error=on', database];
  const running = run(join(bin, 'postgres'), args, processOptions(home));
  running.child.stdin?.end(`${statement.trimEnd()}\n\n`); // with -j, an empty line ends a statement
  await running;
}

/**
 * Runs initdb. If the system allows less than initdb found in its tests, runs initdb again with lower limits.
 */
async function initCluster(
  home: EmbeddedHome,
  bin: string,
  cluster: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const initdb = ['-D', cluster, '-U', 'recorder', '--pwfile', 'password', '-A', 'scram-sha-256'];
  const fallbacks = new StartFallbacks();
  for (;;) {
    const chosen = Object.entries(fallbacks.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = [...initdb, '-E', 'UTF8', '--locale=C', ...chosen];
    try {
      await run(join(bin, 'initdb'), args, { ...processOptions(home), signal });
      return;
    } catch (error) {
      if (signal?.aborted || !fallbacks.add(toErrorMessage(error))) throw error;
    }
  }
}

/**
 * Refuses files with which no server can be started: incomplete files, and files of another major version,
 * which PostgreSQL cannot read.
 * @throws UsageError with the steps to repair or to migrate the files
 */
export async function refuseUnusableFiles(home: EmbeddedHome, data: string): Promise<void> {
  const files = await filesMajor(data);
  const missing = files === null ? join(data, 'PG_VERSION') : await missingPassword(home);
  if (missing !== null)
    throw new UsageError([
      `${missing}: is missing or empty: put the file back from a copy of ${home.path}, or move that folder away and ` +
        'run "chain-recorder restore --from BACKUP"',
    ]);
  const installed = await installedMajor();
  if (files === installed) return;
  throw new UsageError([
    `${home.path}: holds files of PostgreSQL ${files}, and the embedded PostgreSQL is version ${installed} now: ` +
      'run "chain-recorder backup --to BACKUP" with the version of chain-recorder that used this folder last, ' +
      `move ${home.path} away, and run "chain-recorder restore --from BACKUP" with this one`,
  ]);
}

/**
 * Returns the path of the password file of the server's role if the file is missing or empty. Returns null
 * otherwise.
 */
async function missingPassword(home: EmbeddedHome): Promise<string | null> {
  const file = join(home.path, 'password');
  return (await readFile(file, 'utf8').catch(() => '')) === '' ? file : null;
}

/** Returns the major version of a cluster's files, or null if there is no cluster. */
async function filesMajor(data: string): Promise<number | null> {
  const version = await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => '');
  return version === '' ? null : Number.parseInt(version, 10);
}
