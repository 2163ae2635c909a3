import { Socket } from 'node:net';
import { driverEnd, type Line } from './driver-end.ts';
import { type Encryption, encrypted } from './encrypted.ts';
import type { Servers } from './servers.ts';

/** Where postgres.js would connect to: a server, or a Unix socket. */
interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

/**
 * The `socket` option of postgres.js: connects, encrypted as it is told to (the driver's own `ssl` is to be off), and closes a
 * connection on which nothing was sent or received for `silence`. The server ends every statement earlier, so a statement that still
 * waits has lost its server (a firewall dropped the connection, a host vanished). TCP alone would need a quarter of an hour to
 * notice. An idle connection that was closed is made again when it is needed.
 * @param silence ms; 0: without limit
 * @param several servers, of which the one that takes writes is connected to; null: the driver says where to
 */
export function driverSocket(
  silence: number,
  tls: Encryption,
  several: Pick<Servers, 'primary' | 'hold'> | null,
): (address: Address) => Promise<Socket> {
  const line: Line = { lostEarly: false };
  return async ({ host: [host = 'localhost'], port: [port = 5432], path }) => {
    const socket = new Socket();
    try {
      const place = (await several?.primary()) ?? { host, port };
      several?.hold(socket);
      socket.connect(path ? { path } : place);
      const open = tls.ssl && !path ? await encrypted(socket, place.host, tls) : socket;
      open.setTimeout(silence, () => open.destroy());
      return driverEnd(open, path || place.host, line);
    } catch (error) {
      // The driver listens once it has the socket, and never uses a connection again whose `socket` function threw.
      const failing = new Socket();
      setImmediate(() => failing.destroy(error instanceof Error ? error : new Error(String(error))));
      return driverEnd(failing, host, line);
    }
  };
}
