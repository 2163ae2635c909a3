import type { Redis } from 'ioredis';
import { messageOf } from '../lib/errors.ts';

/** The mend where {@link hasDatabase} says no. */
export const OTHER_DATABASE =
  'end REDIS_URL with the number of one that it has, such as /0 (redis-cli config get databases says how many)';

/**
 * Whether a Redis has the database of a number. ioredis goes on in database 0 where it has not, among the keys of others.
 * @throws what Redis says when it refuses for another reason
 */
export async function hasDatabase(redis: Redis, number: number): Promise<boolean> {
  try {
    await redis.select(number);
    return true;
  } catch (error) {
    // A Redis of a cluster has one database only.
    if (/DB index|not allowed in cluster mode/.test(messageOf(error))) return false;
    throw error;
  }
}
