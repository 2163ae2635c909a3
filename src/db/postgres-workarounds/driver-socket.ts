import { Socket } from 'node:net';
import { getSocketPath, isSocket } from '../../config/database-url.ts';
import type { Servers } from '../servers.ts';
import { type Encryption, encryptSocket } from '../tls.ts';
import { withReportedEnd } from './socket-end.ts';

/**
 * Creates the `socket` option of postgres.js. The socket connects, encrypted if configured (the driver's own
 * `ssl` must be off), and closes a connection on which no data has arrived for `silence` ms. The server ends
 * every statement earlier. So if a statement still waits, the server is lost: a firewall dropped the
 * connection, or the host vanished. TCP alone would need a quarter of an hour to detect the loss. The driver
 * replaces a closed idle connection when a connection is needed.
 * @param silence maximum time without data, in ms; 0 for no limit
 * @param server selects the server to connect to
 */
export function driverSocket(
  silence: number,
  tls: Encryption,
  server: Pick<Servers, 'primary' | 'hold'>,
): () => Promise<Socket> {
  return async () => {
    const socket = new Socket();
    let host = '';
    try {
      const place = await server.primary();
      host = place.host;
      server.hold(socket);
      socket.connect(isSocket(place) ? { path: getSocketPath(place) } : { ...place });
      const open = tls.ssl ? await encryptSocket(socket, host, tls) : socket;
      open.setTimeout(silence, () => open.destroy());
      return withReportedEnd(open, host);
    } catch (error) {
      // The error is emitted later. The driver adds its listeners after this function returns, and never
      // again uses a connection whose `socket` function threw.
      const failing = new Socket();
      setImmediate(() => failing.destroy(error instanceof Error ? error : new Error(String(error))));
      return withReportedEnd(failing, host);
    }
  };
}
