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

/** How connections are encrypted, as libpq calls it: not; without a look at the certificate; only with one that is trusted and has the server's name. */
export type SslMode = 'disable' | 'require' | 'verify-full';

/** What `sslmode`, or `ssl`, may be in a URL. */
const SSL_MODES: ReadonlyMap<string, SslMode> = new Map([
  ['disable', 'disable'],
  ['false', 'disable'],
  ['0', 'disable'],
  ['require', 'require'],
  ['no-verify', 'require'],
  // Which authority it has to be cannot be said, so the name is always looked at, too.
  ['verify-ca', 'verify-full'],
  ['verify-full', 'verify-full'],
  ['true', 'verify-full'],
  ['1', 'verify-full'],
]);
const MAY_BE = 'write require (encrypts without a look at the certificate), verify-full or disable';

/** Parameters of libpq that a driver does not have, and what to do instead. */
const ELSEWHERE: readonly (readonly [string, string])[] = [
  ['sslrootcert', 'name the certificate of the authority in NODE_EXTRA_CA_CERTS=/path/to/ca.pem'],
  ['sslcert', 'no certificate of a client is sent: let the user log in with a password'],
  ['sslkey', 'no certificate of a client is sent: let the user log in with a password'],
];

/** How the servers of a database URL are connected to. */
export interface DatabasePlace {
  /** The URL of each server, in their order, without the parameters that are told here. */
  readonly urls: readonly string[];
  readonly sslMode: SslMode;
  /** The encryption begins with the first byte, as PostgreSQL 17 allows. */
  readonly direct: boolean;
  /** Settings of each session, in libpq's form; empty: none. */
  readonly options: string;
}

/**
 * Reads a database URL. Some parameters mean different things to the two drivers, so that neither is given them: what they say is
 * told here, in libpq's meaning.
 * @throws TypeError saying what is wrong with it, without repeating a secret
 */
export function databasePlace(url: string): DatabasePlace {
  const urls = serverUrls(url);
  const { searchParams } = new URL(urls[0] ?? url);
  for (const [name, instead] of ELSEWHERE)
    if (searchParams.has(name)) throw new TypeError(`${name} cannot be used: ${instead}`);
  const sslMode = sslModeIn(searchParams);
  const direct = searchParams.get('sslnegotiation') === 'direct';
  if (direct && sslMode === 'disable')
    throw new TypeError('sslnegotiation=direct wants sslmode=require or verify-full beside it');
  return {
    urls: urls.map((one) => without(one, ['sslmode', 'ssl', 'sslnegotiation', 'options'])),
    sslMode,
    direct,
    options: searchParams.get('options') ?? '',
  };
}

function sslModeIn(parameters: URLSearchParams): SslMode {
  const name = parameters.has('sslmode') ? 'sslmode' : 'ssl';
  const given = parameters.get(name);
  if (given === null) return 'disable';
  const mode = SSL_MODES.get(given);
  if (mode !== undefined) return mode;
  throw new TypeError(
    given === 'prefer' || given === 'allow'
      ? `${name}=${given} leaves it to the server whether connections are encrypted, which not every part of the recorder can: ${MAY_BE}`
      : `there is no such ${name}: ${MAY_BE}`,
  );
}

/** A URL without some of its parameters; as it is where it has none of them. */
function without(text: string, names: readonly string[]): string {
  const url = new URL(text);
  if (!names.some((name) => url.searchParams.has(name))) return text;
  for (const name of names) url.searchParams.delete(name);
  return url.href;
}
