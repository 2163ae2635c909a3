import type pg from 'pg';
import { guardedClient } from './guarded-client.ts';
import { serversOf } from './servers.ts';
import { sessionConfig } from './session.ts';

/** How long a server may take to see a connection end, ms; then it is cut. */
const LAST_WORDS = 2_000;

/**
 * Works on a connection of its own, which ends with the work. What it has not committed by then is undone.
 * @param settings of its session (`sessionSettings`)
 * @param signal cuts the connection, and with it the statement that is under way
 * @throws when the connection is lost: every statement on it fails
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
  // `end` alone would wait for the statement that is under way.
  const cut = () => client.connection.stream.destroy();
  signal.throwIfAborted();
  signal.addEventListener('abort', cut, { once: true });
  try {
    await client.connect();
    // While the servers are asked which of them takes writes there was nothing to cut yet.
    signal.throwIfAborted();
    return await work(client);
  } finally {
    signal.removeEventListener('abort', cut);
    // The driver waits for the server's end as long as the system has hope for a server that vanished.
    const cutting = setTimeout(cut, LAST_WORDS);
    await client.end().catch(() => {});
    clearTimeout(cutting);
  }
}
