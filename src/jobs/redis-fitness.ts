import { Cluster, type Redis } from 'ioredis';
import { toErrorMessage } from '../lib/errors.ts';

/** Fix for a Redis without the configured database, see {@link hasDatabase}. */
const OTHER_DATABASE =
  'end REDIS_URL with the number of an existing database, such as /0 (redis-cli config get databases shows how many there are)';

/**
 * Returns whether a Redis has the database with a number. If not, ioredis silently uses database 0, with the
 * keys of other applications.
 * @throws the error of Redis if it rejects the command for another reason
 */
async function hasDatabase(redis: Redis, number: number): Promise<boolean> {
  try {
    await redis.select(number);
    return true;
  } catch (error) {
    // A Redis in a cluster has only one database.
    if (/DB index|not allowed in cluster mode/.test(toErrorMessage(error))) return false;
    throw error;
  }
}

/** Reason why a Redis is unsuitable for the queue, and the fix. */
export interface RedisProblem {
  readonly found: string;
  readonly fix: string;
}

const MIN_REDIS_VERSION = [6, 2] as const;

/** Error messages of a Redis that rejects writes, with the cause and the fix. */
export const WRITE_REFUSALS: readonly (readonly [RegExp, string, string])[] = [
  [
    /\bOOM\b/,
    'the memory of the server is full',
    'raise maxmemory on the server (redis-cli config set maxmemory 256mb), or remove other data from it',
  ],
  [
    /MISCONF/,
    'the server could not save its data to disk',
    'see the log of Redis; free disk space, or give Redis write access to its folder',
  ],
  [
    /READONLY/,
    'the server is a replica',
    'name the primary in REDIS_URL, or make this server a primary again (redis-cli replicaof no one)',
  ],
];
/** Expiry of the key of a test write, in ms. */
const TEST_KEY_EXPIRY_MS = 5_000;

/**
 * Returns why an available Redis rejects writes. Returns null if Redis accepts writes. Only a test write is
 * reliable, because versions differ in the computation of the used memory.
 * @param key key of the test write, which expires after some seconds
 * @throws any other error of Redis
 */
export async function testWrite(client: Redis | Cluster, key: string): Promise<RedisProblem | null> {
  try {
    await client.set(key, '', 'PX', TEST_KEY_EXPIRY_MS);
    return null;
  } catch (error) {
    const message = toErrorMessage(error);
    const [, found, fix] = WRITE_REFUSALS.find(([words]) => words.test(message)) ?? [];
    if (found === undefined || fix === undefined) throw error;
    return { found, fix: fix };
  }
}

/**
 * Returns why a Redis is too old, rejects writes or may evict keys. Returns null if the Redis is suitable. In
 * a cluster, every primary is checked.
 * @throws the error of Redis if Redis rejects the command
 */
export async function findRedisProblem(client: Redis | Cluster): Promise<RedisProblem | null> {
  if (client instanceof Cluster) return findClusterProblem(client);
  const { db } = client.options;
  const info = fieldsOf(await client.info());
  if (info('redis_mode') === 'sentinel')
    return { found: 'the server is a sentinel', fix: 'write REDIS_URL=redis-sentinel://HOST:PORT/NAME' };
  if (info('cluster_enabled') === '1')
    return { found: 'the server is a node of a cluster', fix: 'write REDIS_URL=redis-cluster://HOST:PORT' };
  if (db && !(await hasDatabase(client, db)))
    return { found: `the server has no database ${db}`, fix: OTHER_DATABASE };
  if (info('role') === 'slave')
    return {
      found: `the server is a replica of ${info('master_host')}:${info('master_port')} and accepts no writes`,
      fix: 'name the primary in REDIS_URL',
    };
  return findServerProblem(info);
}

async function findClusterProblem(cluster: Cluster): Promise<RedisProblem | null> {
  await cluster.ping(); // before the first response, every node counts as a primary
  for (const node of cluster.nodes('master')) {
    const { host, port } = node.options;
    if (/cluster_state:fail/.test(String(await node.cluster('INFO'))))
      return {
        found: `${host}:${port}: not all slots of the cluster are served (cluster_state:fail)`,
        fix: 'restart the missing primaries: redis-cli --cluster check HOST:PORT lists them',
      };
    const unfit = findServerProblem(fieldsOf(await node.info()));
    if (unfit) return { ...unfit, found: `${host}:${port}: ${unfit.found}` };
  }
  return null;
}

/** Fields of the INFO response of a server, by name. */
type Fields = (name: string) => string | undefined;

const fieldsOf =
  (info: string): Fields =>
  (name) =>
    new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];

function findServerProblem(field: Fields): RedisProblem | null {
  const version = field('redis_version') ?? '0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < MIN_REDIS_VERSION[0] || (major === MIN_REDIS_VERSION[0] && minor < MIN_REDIS_VERSION[1]))
    return { found: `version ${version} is too old`, fix: 'use Redis 6.2 or newer, or Valkey' };
  const policy = field('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    return {
      found: `the server evicts keys (maxmemory-policy ${policy}) and would lose schedules`,
      fix: 'set maxmemory-policy noeviction (in redis.conf, or: redis-cli config set maxmemory-policy noeviction)',
    };
  return null;
}
