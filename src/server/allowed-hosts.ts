import { isIP } from 'node:net';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns whether a request was meant for this server. A web page can let its own name point to this machine
 * and make a browser send requests here (DNS rebinding). Such a request has that name as its `Host`, and is
 * refused.
 * @param host the request's `Host` with its port; undefined if the client sent none and so is not a browser
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
