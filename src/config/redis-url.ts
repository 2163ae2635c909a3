/** A host with its port. */
interface Address {
  readonly host: string;
  readonly port: number;
}

/** What is the same of each way to a Redis. Undefined: not given in the URL. */
interface Access {
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The hosts as the URL names them, without user and password: for people. */
  readonly named: string;
}

/** The Redis that a REDIS_URL names: one server, a cluster by some of its nodes, or a primary that sentinels know. */
export type RedisPlace = Access &
  (
    | (Address & { readonly kind: 'server'; readonly database: number })
    | { readonly kind: 'cluster'; readonly nodes: readonly Address[] }
    | {
        readonly kind: 'sentinel';
        readonly sentinels: readonly Address[];
        /** The name under which the sentinels watch the primary. */
        readonly name: string;
        readonly database: number;
        readonly sentinelUsername: string | undefined;
        readonly sentinelPassword: string | undefined;
      }
  );

/** How a REDIS_URL may begin. */
export const REDIS_SCHEMES = [
  'redis:',
  'rediss:',
  'redis-cluster:',
  'rediss-cluster:',
  'redis-sentinel:',
  'rediss-sentinel:',
] as const;

const PORT = 6379;
const SENTINEL_PORT = 26379;
const DATABASE = /^\/?(\d*)\/?$/;

const PARTS = /^([a-z-]+:\/\/(?:[^/?#@]*@)?)([^/?#@]*,[^/?#@]*)((?:[/?#].*)?)$/s;

/** The URL of each of several hosts: `redis-cluster://a:1,b:2` names two, each with a port of its own. @throws TypeError when one is no URL */
function serverUrls(url: string): readonly URL[] {
  const [, before = '', hosts, after = ''] = PARTS.exec(url) ?? [];
  return hosts === undefined
    ? [new URL(url)]
    : hosts.split(',').map((host) => new URL(before + host + after));
}

/** Parameters that are read, of sentinels; and `family`, which says nothing: both families of addresses are tried. */
const PARAMETERS = ['sentinelUsername', 'sentinelPassword', 'family'];

/**
 * Reads a REDIS_URL (contract section 2): `redis://host/1`, `redis-cluster://a,b,c`, `redis-sentinel://a,b,c/name/1`; `rediss…` for TLS.
 * `?sentinelUsername=` and `?sentinelPassword=` are for the sentinels, which have users of their own.
 * @throws TypeError saying what is wrong with it, without repeating it
 */
export function redisPlace(text: string): RedisPlace {
  const urls = serverUrls(text);
  const [first] = urls;
  if (!first || urls.some(({ hostname }) => hostname === '')) throw new TypeError('a host is missing');
  // ioredis would take any of its options from there.
  for (const name of first.searchParams.keys())
    if (!PARAMETERS.includes(name))
      throw new TypeError(
        'behind "?" come sentinelUsername and sentinelPassword only: the number of a database is written /1, TLS is rediss://',
      );
  const [, secure, way = 'server'] = /^redis(s?)(?:-(\w+))?:$/.exec(first.protocol) ?? [];
  const given = (part: string) => (part === '' ? undefined : decodeURIComponent(part));
  const access = {
    tls: secure === 's',
    username: given(first.username),
    password: given(first.password),
    named: urls.map(({ host }) => host).join(','),
  };
  const addresses = (standard: number) =>
    urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? standard : Number(port),
    }));
  const { pathname, searchParams } = first;
  if (way === 'cluster') {
    if (/[^/]/.test(pathname))
      throw new TypeError('behind the hosts of a cluster comes nothing: a cluster has one database');
    return { kind: 'cluster', ...access, nodes: addresses(PORT) };
  }
  if (way === 'sentinel') {
    const [, name = '', ...rest] = pathname.split('/').map(decodeURIComponent);
    if (name === '')
      throw new TypeError(
        'behind the sentinels comes the name under which they watch the primary, such as /mymaster',
      );
    return {
      kind: 'sentinel',
      ...access,
      sentinels: addresses(SENTINEL_PORT),
      name,
      database: databaseIn(rest.join('/'), 'behind the name'),
      sentinelUsername: searchParams.get('sentinelUsername') ?? undefined,
      sentinelPassword: searchParams.get('sentinelPassword') ?? undefined,
    };
  }
  if (urls.length > 1)
    throw new TypeError(
      'several hosts are those of a cluster (redis-cluster://) or sentinels (redis-sentinel://)',
    );
  const [{ host, port } = { host: first.hostname, port: PORT }] = addresses(PORT);
  return { kind: 'server', ...access, host, port, database: databaseIn(pathname, 'behind the host') };
}

function databaseIn(path: string, where: string): number {
  const [, number] = DATABASE.exec(path) ?? [];
  if (number === undefined) throw new TypeError(`${where} comes only the number of a database, such as /1`);
  return Number(number);
}
