import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { PUBLIC_PATHS } from './access.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns whether the `Host` of a request is a name of this server. The domain of a malicious web page can
 * resolve to this machine, so that a browser sends the requests of the page here (DNS rebinding). The `Host`
 * of such a request is the domain of the page.
 * @param host the request's `Host` with the port; undefined if there is none. Browsers always send one
 * @param reachedAt the address at which the request arrived
 * @param names host names in `server.allowedHosts`
 */
export function isOwnName(
  host: string | undefined,
  reachedAt: string | undefined,
  names: readonly string[],
): boolean {
  if (host === undefined) return true;
  const name = withoutPort(host);
  return (
    LOOPBACK.test(name) || [reachedAt, ...names].some((own) => own !== undefined && urlHost(own) === name)
  );
}

const withoutPort = (host: string) => host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();

/** Normalizes a name or an address to the form in a URL. */
function urlHost(name: string): string {
  const address = name.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
  return isIP(address) === 6 ? `[${address}]` : address;
}

/** Fetch metadata headers of a browser. Other clients do not send these headers. */
interface FetchMetadata {
  readonly 'sec-fetch-site'?: string | string[] | undefined;
  readonly 'sec-fetch-mode'?: string | string[] | undefined;
  readonly 'sec-fetch-dest'?: string | string[] | undefined;
}

/**
 * Returns whether a page of another site made a browser send this request (an image, a script, a frame). Such
 * a page cannot read the response, but a query may take seconds. False for followed links and for
 * {@link PUBLIC_PATHS}.
 */
export const isCrossSiteRequest = (path: string, headers: FetchMetadata): boolean =>
  headers['sec-fetch-site'] === 'cross-site' &&
  !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document') &&
  !Object.values(PUBLIC_PATHS).some((one) => one.test(path));

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

export const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // Caches must revalidate responses, because the record changes. Shared caches must not store responses that
  // required a token.
  'cache-control': 'private, no-cache',
} as const;

/** Sends {@link HEADERS} with every response, including errors. A route may override each header. */
export function sendHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', async (_request, reply) => {
    reply.headers(HEADERS);
  });
}

/** Refuses requests with several host names, with unknown host names, and from pages of other sites. */
export function refuseForeignRequests(server: FastifyInstance, allowedHosts: readonly string[]): void {
  // A proxy in front of the server might check another of the names than this server.
  server.addHook('onRequest', async ({ url, raw: { rawHeaders } }, reply) => {
    const hosts = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host');
    if (hosts.length < 2 && !/^https?:/i.test(url)) return;
    await reply.code(400).send({
      error: 'the request names several hosts: send one Host header, and a path as the request target',
    });
  });
  server.addHook('onRequest', async ({ headers: { host }, socket: { localAddress } }, reply) => {
    if (isOwnName(host, localAddress, allowedHosts)) return;
    const error = `the host name "${host}" is not allowed: add it to server.allowedHosts in recorder.yaml`;
    await reply.code(421).send({ error });
  });
  server.addHook('onRequest', async ({ url, headers }, reply) => {
    if (!isCrossSiteRequest(url.split('?', 1)[0] ?? url, headers)) return;
    await reply
      .code(403)
      .send({ error: 'the request came from a page of another site: open this page directly' });
  });
}
