import postgres from 'postgres';
import { idleTimeoutSocket } from './idle-timeout.ts';
import { serversOf } from './servers.ts';

/**
 * Opens a client for the server of `url` that takes writes; connections are made when they are needed.
 * @param url as in DATABASE_URL: one server or several
 * @param silence how long a connection may be silent before it is closed, ms; 0: without limit
 */
export function connect(
  url: string,
  silence: number,
  options: postgres.Options<Record<string, never>>,
): postgres.Sql {
  const servers = serversOf(url);
  // The driver's types do not know `socket`.
  const withSocket = { ...options, socket: idleTimeoutSocket(silence, servers) };
  return postgres(servers.url, withSocket);
}
