import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A cookie of the request; undefined: there is none. */
export function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  return headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[name];
}

/**
 * Sends a cookie that no script can read and that no other site can send along.
 * @param seconds how long it is kept; 0: it is taken away
 */
export function keepCookie(
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
    // A proxy in front may speak TLS.
    secure: request.headers['x-forwarded-proto'] === 'https',
  });
  reply.header('set-cookie', cookie);
}
