import { isIP } from 'node:net';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether a request was meant for this server. A web page can let its own name point to this machine and make a browser
 * send requests here (DNS rebinding). Such a request has that name as its `Host`, and is refused.
 * @param host the request's `Host` with its port; undefined: the client sent none, so it is no browser
 * @param reachedAt the address at which the request arrived
 * @param names names that the configuration gives this server
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

/** A name or an address in the form of a URL. */
function urlHost(name: string): string {
  const address = name.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
  return isIP(address) === 6 ? `[${address}]` : address;
}
