import { Redis } from 'ioredis';
import type { Checked } from '../checked.ts';
import { messageOf } from '../errors.ts';
import { hasDatabase, OTHER_DATABASE } from './redis-database.ts';

const PATIENCE = 5_000;
const OLDEST = [6, 2] as const;

/** What Redis or its connection says, what that means, and the mend. */
const CAUSES: readonly (readonly [RegExp, string, string])[] = [
  [
    /NOAUTH|without any credentials/,
    'it wants a password',
    'write it into REDIS_URL: redis://:PASSWORD@host:port',
  ],
  [
    /WRONGPASS|invalid password/,
    'it refuses the user or the password',
    'correct them in REDIS_URL (percent-encode /, @, : and #)',
  ],
  [
    /without any password configured/,
    'it has no password, and one was sent',
    'take the password out of REDIS_URL',
  ],
  [/NOPERM/, 'its user lacks rights', 'give the user all of them: ACL SETUSER NAME ~* &* +@all'],
  [
    /\bOOM\b/,
    'its memory is full, so that it takes no writes',
    'raise maxmemory on the server (redis-cli config set maxmemory 256mb), or end what else fills it',
  ],
  [
    /MISCONF/,
    'it takes no writes because it could not save its data to its disk',
    'see its log, and make room on its disk or let it write there',
  ],
  [/LOADING/, 'it is loading its data', 'wait until it has'],
  [
    /ECONNREFUSED/,
    'nothing listens there',
    'start Redis, or correct host and port in REDIS_URL; without REDIS_URL the queue is in PostgreSQL',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'no host has this name', 'correct the host in REDIS_URL'],
  [
    /ETIMEDOUT|EHOSTUNREACH|timed? ?out/i,
    'it cannot be reached',
    'let this machine through the firewall to it, or correct host and port in REDIS_URL',
  ],
  [/wrong version number|EPROTO/i, 'it does not speak TLS', 'write redis:// instead of rediss://'],
  [
    /CERT|certificate/i,
    'its certificate is not trusted',
    'name the certificate of its authority in NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
  ],
  [
    /ECONNRESET|Connection is closed|Protocol error|ParserError/i,
    'it answers no Redis commands',
    'correct the port in REDIS_URL: it may want rediss:// (TLS), or be of another program',
  ],
];

/**
 * Examines a Redis for the queue: whether it lets the recorder in, is new enough, takes writes and keeps its keys.
 * @returns what must be mended; null: nothing
 */
export async function examineRedis(url: string): Promise<Checked | null> {
  const { host } = new URL(url);
  const bad = (found: string, mend: string): Checked => ({
    check: 'queue',
    ok: false,
    found: `Redis ${host}: ${found}`,
    mend,
  });
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: PATIENCE,
    commandTimeout: PATIENCE,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  const heard: string[] = [];
  redis.on('error', (error: Error) =>
    heard.push(`${messageOf(error)} ${'code' in error ? String(error.code) : ''}`),
  );
  try {
    await redis.connect();
    const { db } = redis.options;
    if (db && !(await hasDatabase(redis, db))) return bad(`it has no database ${db}`, OTHER_DATABASE);
    const wrong = wrongIn(await redis.info(), bad);
    if (wrong === null) await redis.set('chain-recorder:doctor', '', 'PX', PATIENCE);
    return wrong;
  } catch (error) {
    const said = [...heard, messageOf(error)].join('\n');
    const [, cause, mend] = CAUSES.find(([words]) => words.test(said)) ?? [
      /./,
      messageOf(error),
      'correct REDIS_URL',
    ];
    return bad(cause, mend);
  } finally {
    redis.disconnect();
  }
}

function wrongIn(info: string, bad: (found: string, mend: string) => Checked): Checked | null {
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const version = field('redis_version') ?? '0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return bad(`version ${version} is too old`, 'use Redis 6.2 or newer, or Valkey');
  if (field('role') === 'slave')
    return bad(
      `it is a replica of ${field('master_host')}:${field('master_port')} and takes no writes`,
      'name the primary in REDIS_URL',
    );
  const policy = field('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    return bad(
      `it evicts keys (maxmemory-policy ${policy}) and would lose schedules`,
      'set maxmemory-policy noeviction (in redis.conf, or: redis-cli config set maxmemory-policy noeviction)',
    );
  return null;
}
