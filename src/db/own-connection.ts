import type pg from 'pg';
import { guardedClient } from './guarded-client.ts';
import { serversOf } from './servers.ts';
import { sessionConfig } from './session.ts';

/** Timeout of closing a connection, in ms. After the timeout, the socket is destroyed. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Runs `work` on a separate connection, which is closed afterwards. Uncommitted changes are rolled back.
 * @param settings settings of the session (`sessionSettings`)
 * @param signal closes the connection, and with it the running statement
 * @throws the error of the lost connection: every statement on it fails
 */
export async function onOwnConnection<T>(
  url: string,
  settings: Readonly<Record<string, string>>,
  signal: AbortSignal,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const servers = serversOf(url);
  const Client = guardedClient(servers);
  const client = new Client({
    ...sessionConfig(settings),
    connectionTimeoutMillis: 10_000,
  });
  // `end` alone would wait for the running statement.
  const cut = () => client.connection.stream.destroy();
  signal.throwIfAborted();
  signal.addEventListener('abort', cut, { once: true });
  try {
    await client.connect();
    // While the primary was being determined there was no socket to destroy.
    signal.throwIfAborted();
    return await work(client);
  } finally {
    signal.removeEventListener('abort', cut);
    // The driver waits until the server closes the connection. If the server vanished, that would take until
    // the system's TCP timeout.
    const cutting = setTimeout(cut, CLOSE_TIMEOUT_MS);
    await client.end().catch(() => {});
    clearTimeout(cutting);
  }
}
