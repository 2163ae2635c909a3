import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that the server received. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Number of the request, from 1. */
  readonly number: number;
}

/** A real HTTP server whose responses a test sets. */
export interface UpstreamServer {
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

type Handler = (request: Received, response: ServerResponse) => unknown;

/** Starts a server on a free port of the loopback. */
export async function upstreamServer(handler: Handler): Promise<UpstreamServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    const entry = {
      method: request.method ?? '',
      url: new URL(request.url ?? '/', 'http://upstream'),
      headers: request.headers,
      body,
      number: received.length + 1,
    };
    received.push(entry);
    await handler(entry, response);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: await listen(server), received, close };
}

/** A server that writes arbitrary bytes to each connection after a request. */
export async function rawServer(answer: (socket: Socket) => void): Promise<Omit<UpstreamServer, 'received'>> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // the client may close the connection at any time
    socket.once('data', () => answer(socket));
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { url: await listen(server), close };
}

/**
 * Gives a test file servers as {@link upstreamServer} and {@link rawServer} start them.
 * @param closedAfter hook that closes them, such as `afterEach`
 */
export function withServers(closedAfter: (close: () => Promise<void>) => void) {
  const running: { close(): Promise<void> }[] = [];
  closedAfter(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()));
  });
  const track = async <T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const server = await starting;
    running.push(server);
    return server;
  };
  return {
    serve: (handler: Handler) => track(upstreamServer(handler)),
    serveRaw: (answer: (socket: Socket) => void) => track(rawServer(answer)),
  };
}

/** Responds with JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${portOf(server.address())}`;
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return address.port;
}
