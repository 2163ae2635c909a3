import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface ConnectionLimits {
  /** Maximum number of connections of all clients. */
  readonly max: number;
  /** Number of additional connections, which serve only {@link WATCHER_PATHS}. */
  readonly reserved: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = { max: 2_000, reserved: 64 };

/** Paths for monitoring, which are served even at the limit of the connections. */
export const WATCHER_PATHS = /^\/(health|ready|metrics)(\?|$)/;

/** Maximum number of requests in progress on one connection. Browsers send only one. */
const MAX_PIPELINED_REQUESTS = 10;

const RETRY_AFTER_S = 10;

/**
 * Limits the connections of a server. At the limit, a new connection replaces the oldest connection that
 * never sent a request, or else the oldest idle connection. If all connections have requests in progress,
 * further connections serve only {@link WATCHER_PATHS}. A connection with more than {@link
 * MAX_PIPELINED_REQUESTS} requests in progress is closed, and its remaining requests are not served.
 * @param reached called each time the limit is reached
 */
export function limitConnections(
  server: FastifyInstance,
  { max, reserved: maxReserved }: ConnectionLimits,
  reached: () => void,
): void {
  const open = new Set<Socket>();
  const reserved = new Set<Socket>();
  /** Connections that never sent a request, the oldest first. */
  const silent = new Set<Socket>();
  /** Connections without a request in progress that have sent requests, the longest idle first. */
  const idle = new Set<Socket>();
  const inProgress = new WeakMap<Socket, number>();
  const forget = (socket: Socket) => {
    for (const sockets of [open, reserved, silent, idle]) sockets.delete(socket);
  };
  const evict = (isCandidate: (socket: Socket) => boolean): boolean => {
    for (const sockets of [silent, idle])
      for (const socket of sockets) {
        if (!isCandidate(socket)) continue;
        forget(socket);
        socket.destroy();
        return true;
      }
    return false;
  };
  const admit = (socket: Socket): boolean => {
    if (open.size - reserved.size < max) return true;
    reached();
    if (evict((one) => !reserved.has(one))) return true;
    if (reserved.size >= maxReserved && !evict((one) => reserved.has(one))) return false;
    reserved.add(socket);
    return true;
  };
  server.server.on('connection', (socket) => {
    if (!admit(socket)) {
      socket.destroy();
      return;
    }
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => forget(socket));
  });
  server.server.prependListener('request', ({ socket }, response) => {
    silent.delete(socket);
    idle.delete(socket);
    const count = (change: number) => {
      const requests = (inProgress.get(socket) ?? 0) + change;
      inProgress.set(socket, requests);
      return requests;
    };
    if (count(1) > MAX_PIPELINED_REQUESTS) socket.destroy();
    response.once('close', () => {
      if (count(-1) === 0 && open.has(socket)) idle.add(socket);
    });
  });
  server.addHook('onRequest', async ({ method, url, socket }, reply) => {
    if (socket.destroyed) {
      reply.hijack();
      return;
    }
    if (!reserved.has(socket)) return;
    reply.header('connection', 'close');
    // The server would read the bodies of other methods, and a body may be endless.
    if (/^(GET|HEAD)$/.test(method) && WATCHER_PATHS.test(url)) return;
    const error = `all ${max} connections of the server are in use: retry in ${RETRY_AFTER_S} s`;
    await reply.code(503).header('retry-after', RETRY_AFTER_S).send({ error });
  });
}
