import type { FastifyReply } from 'fastify';

/** Returns a signal that aborts when the client disconnects. */
export function abortOnDisconnect({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => left.abort());
  return left.signal;
}
