import { isIP } from 'node:net';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether a request was meant for this server. A page of the internet can make a browser ask a name that it lets point
 * to this machine; such a request carries that name, and is not answered.
 * @param host the request's `Host`, port included; undefined: a client that sends none is no browser
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

/** A name or an address as it stands in a URL. */
function urlHost(name: string): string {
  const address = name.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
  return isIP(address) === 6 ? `[${address}]` : address;
}
