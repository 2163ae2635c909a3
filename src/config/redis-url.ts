/** A host with its port. */
interface Address {
  readonly host: string;
  readonly port: number;
}

/** Common properties of all kinds of Redis. Undefined: not in the URL. */
interface RedisAccess {
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Hosts as in the URL, without user and password, for messages. */
  readonly named: string;
}

/** Parsed REDIS_URL: one server, a cluster by some of its nodes, or a primary behind sentinels. */
export type ParsedRedisUrl = RedisAccess &
  (
    | (Address & { readonly kind: 'server'; readonly database: number })
    | { readonly kind: 'cluster'; readonly nodes: readonly Address[] }
    | {
        readonly kind: 'sentinel';
        readonly sentinels: readonly Address[];
        /** Name of the primary in the sentinels. */
        readonly name: string;
        readonly database: number;
        readonly sentinelUsername: string | undefined;
        readonly sentinelPassword: string | undefined;
      }
  );

/** Schemes of a REDIS_URL. */
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

/**
 * Returns one URL for each host: `redis-cluster://a:1,b:2` has two, each with its port.
 * @throws TypeError if a host does not result in a valid URL
 */
function serverUrls(url: string): readonly URL[] {
  const [, before = '', hosts, after = ''] = PARTS.exec(url) ?? [];
  return hosts === undefined
    ? [new URL(url)]
    : hosts.split(',').map((host) => new URL(before + host + after));
}

/**
 * Supported parameters: the login at the sentinels, and `family`, which is ignored because both address
 * families are tried.
 */
const PARAMETERS = ['sentinelUsername', 'sentinelPassword', 'family'];

/**
 * Parses a REDIS_URL: `redis://host/1`, `redis-cluster://a,b,c`,
 * `redis-sentinel://a,b,c/name/1`; `rediss…` for TLS. `?sentinelUsername=` and `?sentinelPassword=` apply to
 * the sentinels, which have their own users.
 * @throws TypeError with the problem; the message does not contain the URL
 */
export function parseRedisUrl(text: string): ParsedRedisUrl {
  const urls = serverUrls(text);
  const [first] = urls;
  if (!first || urls.some(({ hostname }) => hostname === '')) throw new TypeError('a host is missing');
  // ioredis would accept any of its options as a parameter.
  for (const name of first.searchParams.keys())
    if (!PARAMETERS.includes(name))
      throw new TypeError(
        'the only parameters are sentinelUsername and sentinelPassword: write the number of a database as /1, TLS as rediss://',
      );
  const [, secure, way = 'server'] = /^redis(s?)(?:-(\w+))?:$/.exec(first.protocol) ?? [];
  const decodeOptional = (part: string) => (part === '' ? undefined : decodeURIComponent(part));
  const access = {
    tls: secure === 's',
    username: decodeOptional(first.username),
    password: decodeOptional(first.password),
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
      throw new TypeError('remove the path after the hosts: a cluster has only one database');
    return { kind: 'cluster', ...access, nodes: addresses(PORT) };
  }
  if (way === 'sentinel') {
    const [, name = '', ...rest] = pathname.split('/').map(decodeURIComponent);
    if (name === '')
      throw new TypeError('the name of the primary must follow the sentinels, such as /mymaster');
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
  if (urls.length > 1) throw new TypeError('several hosts require redis-cluster:// or redis-sentinel://');
  const [{ host, port } = { host: first.hostname, port: PORT }] = addresses(PORT);
  return { kind: 'server', ...access, host, port, database: databaseIn(pathname, 'behind the host') };
}

function databaseIn(path: string, where: string): number {
  const [, number] = DATABASE.exec(path) ?? [];
  if (number === undefined)
    throw new TypeError(`${where} only the number of a database may follow, such as /1`);
  return Number(number);
}
