const PARTS = /^([a-z-]+:\/\/(?:[^/?#]*@)?)([^/?#@]*,[^/?#@]*)((?:[/?#].*)?)$/s;

/**
 * The URL of each server that a URL of a database or a Redis names (contract section 2), in its order: `postgres://a:1,b:2/db`
 * names a pair, each with a port of its own. One that names a single server comes back as it is.
 * @throws TypeError when one of several is no URL
 */
export function serverUrls(url: string): readonly string[] {
  const [, before = '', hosts, after = ''] = PARTS.exec(url) ?? [];
  if (hosts === undefined) return [url];
  return hosts.split(',').map((host) => {
    const one = new URL(`${before}${host}${after}`);
    if (one.hostname === '') throw new TypeError('a server without a name');
    // The recorder itself chooses the server that takes writes. The driver's own choice works in another way.
    one.searchParams.delete('target_session_attrs');
    return one.href;
  });
}
