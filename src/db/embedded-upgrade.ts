import { chown, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { UsageError } from '../errors.ts';
import { isInUse, withStartLock } from './embedded.ts';
import { majorOf, packageIn } from './embedded-binaries.ts';
import { type EmbeddedHome, type EmbeddedLog, embeddedHome } from './embedded-home.ts';
import {
  filesMajor,
  finishUpgrade,
  runningServer,
  startServer,
  stopServer,
  UPGRADED,
} from './embedded-server.ts';

/** Both servers of an upgrade. */
export interface BothServers {
  /** The record, in the server of the version before. */
  readonly from: string;
  /** An empty database in a server of the installed version. */
  readonly to: string;
  /** A folder for what is needed meanwhile. */
  readonly scratch: string;
}

/** What an upgrade is made of. */
export interface Upgrading {
  /** The folder of the embedded server, `.recorder`. */
  readonly dir: string;
  /** The folder with the programs of the version before. */
  readonly binaries: string;
  readonly log: EmbeddedLog;
  /** Moves the record. @returns false: it is not to be used */
  readonly move: (servers: BothServers) => Promise<boolean>;
}

/**
 * Moves the record of an embedded server into files of the installed major version. The files before stay as `data-MAJOR` beside
 * them. Nobody else uses the server meanwhile. Killed at any moment it leaves the one or the other, whole.
 * @returns the major version before; null: the files are of the installed version; false: the move was not to be used
 * @throws UsageError when a process uses the server, or the programs are not there
 */
export async function upgradeEmbedded({
  dir,
  binaries,
  log,
  move,
}: Upgrading): Promise<number | null | false> {
  const home = await embeddedHome(dir, log);
  return withStartLock(home, async () => {
    if (isInUse(home)) throw new UsageError([`${dir}: another process uses the database: stop it first`]);
    await finishUpgrade(home);
    const before = await filesMajor(join(home.path, 'data'));
    if (before === null)
      throw new UsageError([`${dir}: holds no embedded database: run this where "up" runs`]);
    if (before === (await majorOf(home))) return null;
    const old: EmbeddedHome = { ...home, package: await packageIn(binaries, before) };
    const next: EmbeddedHome = { path: join(home.path, 'upgrade'), account: home.account };
    // What a killed upgrade left.
    await stopServer(next);
    await rm(next.path, { recursive: true, force: true, maxRetries: 10 });
    await mkdir(next.path, { mode: 0o700 });
    if (home.account) await chown(next.path, home.account.uid, home.account.gid);
    const scratch = join(next.path, 'scratch');
    await mkdir(scratch);
    let good = false;
    try {
      const from = (await runningServer(home)) ?? (await startServer(old, {}, undefined)).port;
      const to = (await startServer(next, {}, undefined)).port;
      const servers = { from: await urlOf(home, from), to: await urlOf(next, to), scratch };
      good = await move(servers);
      if (good) await keepPassword(servers);
    } finally {
      await stopServer(old);
      await stopServer(next);
    }
    if (good) {
      await rename(join(next.path, 'data'), join(home.path, UPGRADED));
      await finishUpgrade(home);
    }
    await rm(next.path, { recursive: true, force: true, maxRetries: 10 });
    return good ? before : false;
  });
}

/** Whoever connected before connects as before. */
async function keepPassword({ from, to }: BothServers): Promise<void> {
  const { password } = new URL(from);
  const sql = postgres(to, { max: 1, onnotice: () => {} });
  // The password of an embedded server is hexadecimal.
  await sql.unsafe(`alter role recorder password '${password}'`).finally(() => sql.end());
}

async function urlOf({ path }: EmbeddedHome, port: number): Promise<string> {
  const password = await readFile(join(path, 'password'), 'utf8');
  return `postgres://recorder:${password}@127.0.0.1:${port}/recorder`;
}
