import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Servers } from './servers.ts';

/** Where postgres.js would connect to: a server, or a Unix socket. */
interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

/**
 * Connects for postgres.js, by its `socket` option, to the server that takes writes, and gives a connection up on which
 * nothing came or went for so long. The server ends every statement before that, so one that is still waited for then
 * has nobody at its other end (a firewall forgot it, a host vanished); TCP alone would take a quarter of an hour to
 * notice, and the target that waits with it. An idle connection that is given up is made again when it is needed.
 * @param silence ms; 0: for ever
 */
export function idleTimeoutSocket(
  silence: number,
  servers: Servers,
): (address: Address) => Socket | Promise<Duplex> {
  const connected = (host: string, port: number, path: string | false) => {
    const socket = new GivenUp();
    socket.setTimeout(silence);
    if (path) socket.connect(path);
    else socket.connect(port, host);
    // The name that postgres.js holds a certificate against.
    return Object.assign(socket, { host });
  };
  return ({ host: [host = 'localhost'], port: [port = 5432], path }) => {
    if (!servers.several) return connected(host, port, path);
    return servers.primary().then(
      (primary) => {
        const socket = connected(primary.host, primary.port, false);
        servers.hold(socket);
        return socket;
      },
      (error: unknown) => failing(error),
    );
  };
}

/** A connection that ends when it times out. postgres.js takes every listener from it before it starts TLS. */
class GivenUp extends Socket {
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event === 'timeout') this.destroy();
    return super.emit(event, ...values);
  }
}

/**
 * A connection on which the first word fails. postgres.js 3.4.9 never again uses a connection whose `socket` threw, and
 * one that ends before its first word went out sends nothing ever after.
 */
function failing(error: unknown): Duplex {
  const reason = error instanceof Error ? error : new Error(String(error));
  return new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done(reason) });
}
