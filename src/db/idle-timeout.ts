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
 * The `socket` option of postgres.js: connects to the server that takes writes, and closes a connection on which nothing
 * was sent or received for `silence`. The server ends every statement earlier, so a statement that still waits has lost
 * its server (a firewall dropped the connection, a host vanished). TCP alone would need a quarter of an hour to notice. An
 * idle connection that was closed is made again when it is needed.
 * @param silence ms; 0: without limit
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
    // The name that postgres.js compares with the certificate.
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
 * A connection whose first write fails. postgres.js 3.4.9 never uses a connection again whose `socket` function threw, or
 * that ended before its first write.
 */
function failing(error: unknown): Duplex {
  const reason = error instanceof Error ? error : new Error(String(error));
  return new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done(reason) });
}
