import type { FastifyReply } from 'fastify';

/** Returns a signal that aborts when the client disconnects. */
export function abortOnDisconnect({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  raw.once('close', () => disconnected.abort());
  return disconnected.signal;
}
