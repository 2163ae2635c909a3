import { Socket } from 'node:net';
import { isSocket, socketIn } from '../../config/database-url.ts';
import type { Servers } from '../servers.ts';
import { type Encryption, encrypted } from '../tls.ts';
import { withReportedEnd } from './socket-end.ts';

/**
 * The `socket` option of postgres.js: connects, encrypted as it is told to (the driver's own `ssl` is to be off), and closes a
 * connection on which nothing was sent or received for `silence`. The server ends every statement earlier, so a statement that still
 * waits has lost its server (a firewall dropped the connection, a host vanished). TCP alone would need a quarter of an hour to
 * notice. An idle connection that was closed is made again when it is needed.
 * @param silence ms; 0: without limit
 * @param server which one is connected to
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
      socket.connect(isSocket(place) ? { path: socketIn(place) } : { ...place });
      const open = tls.ssl ? await encrypted(socket, host, tls) : socket;
      open.setTimeout(silence, () => open.destroy());
      return withReportedEnd(open, host);
    } catch (error) {
      // The driver listens once it has the socket, and never uses a connection again whose `socket` function threw.
      const failing = new Socket();
      setImmediate(() => failing.destroy(error instanceof Error ? error : new Error(String(error))));
      return withReportedEnd(failing, host);
    }
  };
}
