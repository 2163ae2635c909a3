import postgres from 'postgres';
import { HOST, placeText } from '../config/database-url.ts';
import { withArrays } from './postgres-workarounds/array-types.ts';
import { driverSocket } from './postgres-workarounds/driver-socket.ts';
import type { Servers } from './servers.ts';

/**
 * Opens a client of postgres.js. The driver reads neither URL nor environment: all that it would look for there is given to it.
 * @param silence see {@link driverSocket}
 * @param server which of the servers is connected to
 * @param options with `fetch_types: false` arrays are left as texts
 */
export function openDriver(
  { said, tls }: Pick<Servers, 'said' | 'tls'>,
  silence: number,
  server: Pick<Servers, 'primary' | 'hold'>,
  options: postgres.Options<Record<string, never>>,
): postgres.Sql {
  // The driver's types do not know `socket`. Its own way to encrypt compares the certificate of an address with `localhost`.
  const withSocket = {
    ...options,
    // `socket` connects. These are for the words of the driver's errors, and so that it looks for no others.
    host: HOST,
    port: said.places[0].port,
    path: placeText(said.places[0]),
    user: said.user,
    // A text that is empty would be looked for there.
    password: said.password || (() => ''),
    database: said.database,
    ssl: false,
    connection: { ...options.connection, options: said.options },
    socket: driverSocket(silence, tls, server),
    fetch_types: false,
  };
  const sql = postgres(withSocket);
  return options.fetch_types === false ? sql : withArrays(sql);
}
