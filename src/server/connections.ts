import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Limits of the server's connections. */
export interface ConnectionLimits {
  /** Maximum number of connections of all clients. */
  readonly max: number;
  /** Connections beyond `max`, which only serve the paths for monitoring. */
  readonly reserved: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = { max: 2_000, reserved: 64 };

/** Paths for monitoring. These paths are served even if there are too many other clients. */
export const WATCHER_PATHS = /^\/(health|ready|metrics)(\?|$)/;

/** Maximum number of requests in progress on one connection. Browsers wait for each response. */
const MAX_PIPELINED_REQUESTS = 10;

/** Time after which a refused client may retry, in s. */
const RETRY_AFTER_S = 10;

/**
 * Limits the connections of a server. At the limit a new connection replaces the oldest one without a request
 * in progress: first those that never sent one, then kept-alive ones. If all have requests in progress,
 * further connections serve only {@link WATCHER_PATHS}. A connection with too many requests in progress is
 * closed, and the rest of its requests is not served.
 * @param reached called each time the limit is reached
 */
export function limitConnections(
  server: FastifyInstance,
  { max, reserved: maxReserved }: ConnectionLimits,
  reached: () => void,
): void {
  const open = new Set<Socket>();
  const reserved = new Set<Socket>();
  /** Connections that never sent a request, and idle ones; the oldest first. */
  const silent = new Set<Socket>();
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
    // Of other methods the server would read the body, which may never end.
    if (/^(GET|HEAD)$/.test(method) && WATCHER_PATHS.test(url)) return;
    const error = `the server has its maximum of ${max} connections, all in use`;
    await reply.code(503).header('retry-after', RETRY_AFTER_S).send({ error });
  });
}
