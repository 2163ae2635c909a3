import type { FastifyReply } from 'fastify';

/** Aborts when whoever asked is gone. */
export function gone({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => left.abort());
  return left.signal;
}
