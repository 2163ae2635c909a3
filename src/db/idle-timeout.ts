import { Socket } from 'node:net';

/** Where postgres.js would connect to: hosts in turn, or a Unix socket. */
interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

/**
 * Connects for postgres.js, by its `socket` option, and gives a connection up on which nothing came or went for so long.
 * The server ends every statement before that, so one that is still waited for then has nobody at its other end (a
 * firewall forgot it, a host vanished); TCP alone would take a quarter of an hour to notice, and the target that waits
 * with it. An idle connection that is given up is made again when it is needed.
 * @param silence ms
 */
export function idleTimeoutSocket(silence: number): (address: Address) => Socket {
  let next = 0;
  return ({ host, port, path }) => {
    const at = next++ % host.length;
    const socket = new Socket();
    socket.setTimeout(silence, () => socket.destroy());
    if (path) socket.connect(path);
    else socket.connect(port[at] ?? 5432, host[at] ?? 'localhost');
    // The name that postgres.js holds a certificate against.
    return Object.assign(socket, { host: host[at] });
  };
}
