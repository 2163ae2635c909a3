import { Socket } from 'node:net';
import { driverEnd, type Line } from './driver-end.ts';
import { encrypted } from './encrypted.ts';
import type { Servers } from './servers.ts';

/** Where postgres.js would connect to: a server, or a Unix socket. */
interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

/** What a connection needs to know of the servers. */
type Way = Pick<Servers, 'tls' | 'several' | 'primary' | 'hold'>;

/**
 * The `socket` option of postgres.js: connects to the server that takes writes, encrypted as its URL wants it (the driver's own `ssl`
 * is to be off), and closes a connection on which nothing was sent or received for `silence`. The server ends every statement
 * earlier, so a statement that still waits has lost its server (a firewall dropped the connection, a host vanished). TCP alone would
 * need a quarter of an hour to notice. An idle connection that was closed is made again when it is needed.
 * @param silence ms; 0: without limit
 */
export function driverSocket(silence: number, servers: Way): (address: Address) => Promise<Socket> {
  const line: Line = { lostEarly: false };
  return async ({ host: [host = 'localhost'], port: [port = 5432], path }) => {
    const socket = new Socket();
    try {
      const place = servers.several ? await servers.primary() : { host, port };
      if (servers.several) servers.hold(socket);
      socket.connect(path ? { path } : place);
      const open = servers.tls.ssl && !path ? await encrypted(socket, place.host, servers.tls) : socket;
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
