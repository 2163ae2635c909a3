import postgres from 'postgres';
import { DEFAULT_HOST, formatServerAddress } from '../config/database-url.ts';
import { withArrays } from './postgres-workarounds/array-types.ts';
import { driverSocket } from './postgres-workarounds/driver-socket.ts';
import type { Servers } from './servers.ts';

/**
 * Opens a client of postgres.js. The driver reads neither URL nor environment: the driver gets every setting
 * that it would read there.
 * @param silence see {@link driverSocket}
 * @param server selects the server to connect to
 * @param options with `fetch_types: false` arrays are returned as texts
 */
export function openDriver(
  { settings, tls }: Pick<Servers, 'settings' | 'tls'>,
  silence: number,
  server: Pick<Servers, 'primary' | 'hold'>,
  options: postgres.Options<Record<string, never>>,
): postgres.Sql {
  // The driver's types lack the option `socket`. Its own TLS would compare the certificate of an IP address
  // with `localhost`.
  const withSocket = {
    ...options,
    // The function `socket` opens the connection. The driver uses these settings for its error messages only;
    // without them it would read the environment.
    host: DEFAULT_HOST,
    port: settings.places[0].port,
    path: formatServerAddress(settings.places[0]),
    user: settings.user,
    // For an empty text the driver would read the environment.
    password: settings.password || (() => ''),
    database: settings.database,
    ssl: false,
    connection: { ...options.connection, options: settings.options },
    socket: driverSocket(silence, tls, server),
    fetch_types: false,
  };
  const sql = postgres(withSocket);
  return options.fetch_types === false ? sql : withArrays(sql);
}
