import type { FastifyInstance } from 'fastify';

/** Content Security Policy of pages: their own styles, scripts and data, and nothing inline. */
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

/** Headers of every response. */
export const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // The record may have changed. A shared cache must not store responses that required a token.
  'cache-control': 'private, no-cache',
} as const;

/** Sends these headers with every response, including errors. A route may override them. */
export function sendHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', async (_request, reply) => {
    reply.headers(HEADERS);
  });
}
