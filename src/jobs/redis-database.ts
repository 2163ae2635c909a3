import type { Redis } from 'ioredis';
import { toErrorMessage } from '../lib/errors.ts';

/** Fix for a Redis without the configured database, see {@link hasDatabase}. */
export const OTHER_DATABASE =
  'end REDIS_URL with the number of one that it has, such as /0 (redis-cli config get databases says how many)';

/**
 * Returns whether a Redis has the database with a number. If not, ioredis silently uses database 0, with the
 * keys of other applications.
 * @throws the error of Redis if it rejects the command for another reason
 */
export async function hasDatabase(redis: Redis, number: number): Promise<boolean> {
  try {
    await redis.select(number);
    return true;
  } catch (error) {
    // A Redis in a cluster has only one database.
    if (/DB index|not allowed in cluster mode/.test(toErrorMessage(error))) return false;
    throw error;
  }
}
