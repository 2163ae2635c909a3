import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EmbeddedLog, embeddedHome } from './embedded-home.ts';
import { runningServer, type Settings, startServer, stopServer } from './embedded-server.ts';
import { enrol, enrolled, withProcessLock } from './process-lock.ts';

/** An embedded PostgreSQL in use by this process. */
export interface EmbeddedPostgres {
  /** The URL of its database `recorder`. */
  url: string;
  /** Whether this call started the server; false: it ran already. */
  started: boolean;
  /** Ends the use, and the server too when no other living process uses it. Can be called again. */
  close(): Promise<void>;
}

/** The folder and the log of the embedded server, and PostgreSQL settings in addition to the recorder's. */
export interface EmbeddedOptions {
  dir: string;
  log: EmbeddedLog;
  settings?: Settings;
}

/**
 * Uses the PostgreSQL server of `dir`. If none runs, it starts one, and makes its database first if there is none. The
 * server listens on 127.0.0.1, on a free port.
 * @throws Error when the PostgreSQL package is not installed, or with the server's log when it does not start
 */
export async function openEmbedded({ dir, log, settings = {} }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = await embeddedHome(dir, log);
  const users = join(home.path, 'users');
  const undisturbed = <T>(work: () => Promise<T>) => withProcessLock(join(home.path, 'lock'), work);

  const { port, started, leave } = await undisturbed(async () => {
    const found = await runningServer(home);
    const port = found ?? (await startServer(home, settings));
    return { port, started: found === undefined, leave: await enrol(users) };
  });
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
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
