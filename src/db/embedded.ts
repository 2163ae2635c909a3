import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writingTo } from '../writing.ts';
import { type EmbeddedLog, embeddedHome } from './embedded-home.ts';
import { runningServer, type Settings, startServer, stopServer } from './embedded-server.ts';
import { enrol, enrolled, withProcessLock } from './process-lock.ts';

/** An embedded PostgreSQL in use by this process. */
export interface EmbeddedPostgres {
  /** The URL of its database `recorder`. */
  url: string;
  /** Whether this call started the server; false: it ran already. */
  started: boolean;
  /** Whether this call made its database, which is empty. */
  made: boolean;
  /** Ends the use, and the server too when no other living process uses it. Can be called again. */
  close(): Promise<void>;
}

/** The folder and the log of the embedded server, and PostgreSQL settings in addition to the recorder's. */
export interface EmbeddedOptions {
  dir: string;
  log: EmbeddedLog;
  settings?: Settings;
  /** Where it listens; absent: on the port of its first start. */
  port?: number | undefined;
}

/**
 * Uses the PostgreSQL server of `dir`. If none runs, it starts one, and makes its database first if there is none. The
 * server listens on 127.0.0.1, on the same port at every start; where another process has that port, on another one, and says so.
 * @throws UsageError when the folder may not be written; Error when the PostgreSQL package is not installed, or with the server's log when it does not start
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  return writingTo(
    options.dir,
    () => useServer(options),
    'run chain-recorder in a directory that this user may write to, or name a PostgreSQL of your own in DATABASE_URL',
  );
}

async function useServer({
  dir,
  log,
  settings = {},
  port: wanted,
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = await embeddedHome(dir, log);
  const users = join(home.path, 'users');
  const undisturbed = <T>(work: () => Promise<T>) => withProcessLock(join(home.path, 'lock'), work);

  const { port, taken, made, started, leave } = await undisturbed(async () => {
    const found = await runningServer(home);
    const server =
      found === undefined
        ? await startServer(home, settings, wanted)
        : { port: found, taken: undefined, made: false };
    return { ...server, started: found === undefined, leave: await enrol(users) };
  });
  if (taken !== undefined)
    log.warn(
      { dir, port, taken },
      `another program has port ${taken}: embedded PostgreSQL took ${port} for this time; what connects to ${taken} reaches it again once that program has ended`,
    );
  log.info({ dir, port }, started ? 'embedded PostgreSQL started' : 'embedded PostgreSQL found running');

  const close = () =>
    undisturbed(async () => {
      await leave();
      if ((await enrolled(users)).length > 0) return;
      await stopServer(home);
      log.info({ dir }, 'embedded PostgreSQL stopped');
    });
  let closed: Promise<void> | undefined;
  const password = await readFile(join(home.path, 'password'), 'utf8');
  return {
    url: `postgres://recorder:${password}@127.0.0.1:${port}/recorder`,
    started,
    made,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
