import type postgres from 'postgres';
import { openDriver } from './open-driver.ts';
import { serversOf } from './servers.ts';

/**
 * Opens a client for the server of `url` that accepts writes. Connections are opened when they are needed. A
 * closed connection is replaced without an error, and the state of its session (locks, the transaction,
 * temporary functions) is lost.
 * @param url as in DATABASE_URL: one server or several
 * @param silence time without data after which a connection is closed, in ms; 0 for no limit
 */
export function connect(
  url: string,
  silence: number,
  options: postgres.Options<Record<string, never>>,
): postgres.Sql {
  const servers = serversOf(url);
  return openDriver(servers, silence, servers, options);
}

/**
 * Opens a client like {@link connect}, for single statements that depend on no state of a session. The driver
 * closes idle connections well before their socket would time out. Otherwise a statement could be written to
 * a socket that has closed before the driver noticed.
 */
export const connectPool = (
  url: string,
  silence: number,
  options: postgres.Options<Record<string, never>>,
): postgres.Sql => connect(url, silence, { ...options, idle_timeout: silence / 2_000 }); // in s
