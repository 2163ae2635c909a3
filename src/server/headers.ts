import type { FastifyInstance } from 'fastify';

/** What a page may load and do: its own styles, scripts and data, and nothing inline. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** What every answer has. */
export const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // What is recorded may have changed; a shared cache must not hold what was behind a token.
  'cache-control': 'private, no-cache',
} as const;

/** Sends these headers with every answer, errors too. A route may say otherwise. */
export function sendHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', async (_request, reply) => {
    reply.headers(HEADERS);
  });
}
