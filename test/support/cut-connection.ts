import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy to PostgreSQL that closes a connection at a chosen statement. */
interface ConnectionCut {
  /** URL of the database through the proxy. */
  readonly url: string;
  /** Returns whether a connection was closed. */
  cut(): boolean;
  close(): Promise<void>;
}

/**
 * Starts a proxy that closes the first connection with a number of completed statements, before the response to the last
 * one. Closes one connection only.
 * @param statements number of statements of the connection
 */
export async function cutAfter(url: string, statements: number): Promise<ConnectionCut> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true); // else each small message waits 40 ms for the one before
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end);
    client.pipe(upstream);
    let left = statements + 1; // the server is ready for the first statement as well
    let pending = Buffer.alloc(0);
    upstream.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 5 && pending.length > pending.readUInt32BE(1)) {
        const message = pending.subarray(0, pending.readUInt32BE(1) + 1);
        pending = pending.subarray(message.length);
        if (message[0] === 'Z'.charCodeAt(0) && left-- === 0 && !isCut) {
          isCut = true;
          return end();
        }
        client.write(message);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(address.port);
  return {
    url: through.href,
    cut: () => isCut,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
