import type postgres from 'postgres';
import { openDriver } from './open-driver.ts';
import { serversOf } from './servers.ts';

/**
 * Opens a client for the server of `url` that takes writes; connections are made when they are needed. A connection that was
 * closed is made anew in silence: what belongs to a session (a lock, a transaction, a temporary function) is lost then.
 * @param url as in DATABASE_URL: one server or several
 * @param silence how long a connection may be silent before it is closed, ms; 0: without limit
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
 * As {@link connect}, for single statements that need nothing of a session. The driver closes idle connections well before the
 * socket gives them up: between the socket's end and the driver's knowing of it, a statement would be written to a connection
 * that is closed.
 */
export const connectPool = (
  url: string,
  silence: number,
  options: postgres.Options<Record<string, never>>,
): postgres.Sql => connect(url, silence, { ...options, idle_timeout: silence / 2_000 }); // in seconds
