import { type ParsedRedisUrl, parseRedisUrl } from '../config/redis-url.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { redisClient } from './redis-client.ts';
import { findRedisProblem, WRITE_REFUSALS } from './redis-fitness.ts';

const CHECK_TIMEOUT_MS = 5_000;

/** Error messages of Redis or its connection, with the cause and the fix. */
const CAUSES: readonly (readonly [RegExp, string, string])[] = [
  [
    /NOAUTH|without any credentials/,
    'the server requires a password',
    'write it into REDIS_URL: redis://:PASSWORD@host:port',
  ],
  [
    /WRONGPASS|invalid password/,
    'the server rejects the user or the password',
    'correct them in REDIS_URL (percent-encode /, @, : and #)',
  ],
  [
    /without any password configured/,
    'the server has no password, and one was sent',
    'remove the password from REDIS_URL',
  ],
  [/cluster support disabled/, 'the server is not a cluster', 'write redis:// instead of redis-cluster://'],
  [
    /unknown command.{0,3}sentinel/i,
    'the server is not a sentinel',
    'name the hosts and ports of the sentinels in REDIS_URL (default port: 26379), or write redis://',
  ],
  [
    /sentinels are unreachable.*Connection is closed/,
    'no sentinel responds',
    'start the sentinels, or correct their hosts and ports in REDIS_URL (default port: 26379)',
  ],
  [
    /No such master with that name|invalid reply/,
    'no sentinel has a primary with this name',
    'correct the name behind the hosts in REDIS_URL: redis-cli -p 26379 sentinel masters shows it',
  ],
  [/NOPERM/, 'the user lacks permissions', 'grant all permissions: ACL SETUSER NAME ~* &* +@all'],
  ...WRITE_REFUSALS,
  [/LOADING/, 'the server is loading its data', 'wait until the data is loaded'],
  [
    /ECONNREFUSED/,
    'nothing listens there',
    'start Redis, or correct host and port in REDIS_URL; without REDIS_URL the queue is in PostgreSQL',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'the host name cannot be resolved', 'correct the host in REDIS_URL'],
  [
    /ETIMEDOUT|EHOSTUNREACH|timed? ?out/i,
    'the server cannot be reached',
    'allow connections from this machine in the firewall, or correct host and port in REDIS_URL',
  ],
  [/wrong version number|EPROTO/i, 'the server does not support TLS', 'write redis:// instead of rediss://'],
  [
    /CERT|certificate/i,
    'the certificate of the server is not trusted',
    'set NODE_EXTRA_CA_CERTS=/path/to/ca.pem to the certificate of its authority',
  ],
  [
    /ECONNRESET|Connection is closed|Protocol error|ParserError/i,
    'the server does not respond to Redis commands',
    'correct the port in REDIS_URL: the server may require rediss:// (TLS), or the port belongs to another program',
  ],
];

const NAMES: Readonly<Record<ParsedRedisUrl['kind'], string>> = {
  server: 'Redis',
  cluster: 'Redis Cluster',
  sentinel: 'Redis behind sentinels',
};

/**
 * Checks a Redis for the queue: access, version, writes and eviction policy.
 * @returns the failed check, or null
 */
export async function checkRedis(url: string): Promise<CheckResult | null> {
  const place = parseRedisUrl(url);
  const bad = (found: string, fix: string): CheckResult => ({
    check: 'queue',
    ok: false,
    found: `${NAMES[place.kind]} ${place.named}: ${found}`,
    fix: fix,
  });
  const redis = redisClient(place, {
    lazyConnect: true,
    connectTimeout: CHECK_TIMEOUT_MS,
    commandTimeout: CHECK_TIMEOUT_MS,
    enableReadyCheck: false,
    maxRedirections: 3,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  const connectionErrors: string[] = [];
  const addConnectionError = (error: Error) => {
    const code = 'code' in error ? String(error.code) : '';
    const last = 'lastNodeError' in error ? toErrorMessage(error.lastNodeError) : '';
    connectionErrors.push(`${toErrorMessage(error)} ${code} ${last}`);
  };
  redis.on('error', addConnectionError);
  redis.on('sentinelError', addConnectionError);
  try {
    await redis.connect();
    const unfit = await findRedisProblem(redis);
    if (unfit) return bad(unfit.found, unfit.fix);
    await redis.set('chain-recorder:doctor', '', 'PX', CHECK_TIMEOUT_MS);
    return null;
  } catch (error) {
    const errors = [...connectionErrors, toErrorMessage(error)].join('\n');
    const [, cause, fix] = CAUSES.find(([words]) => words.test(errors)) ?? [
      /./,
      toErrorMessage(error),
      'correct REDIS_URL',
    ];
    return bad(cause, fix);
  } finally {
    redis.disconnect();
  }
}
