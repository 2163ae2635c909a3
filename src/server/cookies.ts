import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Returns a cookie of the request, or undefined. */
export function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  return headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[name];
}

/**
 * Sends a cookie that is hidden from scripts (`HttpOnly`) and not sent by requests of other sites
 * (`SameSite=Strict`).
 * @param seconds its lifetime, in s; 0 deletes it
 */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, value, seconds }: { readonly name: string; readonly value: string; readonly seconds: number },
): void {
  const cookie = stringifySetCookie({
    name,
    value,
    path: '/',
    maxAge: seconds,
    httpOnly: true,
    sameSite: 'strict',
    // A proxy may terminate TLS.
    secure: request.headers['x-forwarded-proto'] === 'https',
  });
  reply.header('set-cookie', cookie);
}
