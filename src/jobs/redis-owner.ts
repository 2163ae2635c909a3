import type { Cluster, Redis } from 'ioredis';
import type { ParsedRedisUrl } from '../config/redis-url.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { RedisProblem } from './redis-fitness.ts';

/** Expiry of a claim of a queue, in ms. */
const CLAIM_EXPIRY_MS = 60_000;
/** Timeout for releasing a queue on close, in ms. Otherwise the claim expires later. */
const RELEASE_TIMEOUT_MS = 500;

/**
 * A function that returns the identity of a recorder's database, or null if the identity cannot be determined
 * now.
 */
export type DatabaseIdentity = () => Promise<string | null>;

/**
 * Ownership of a queue in Redis. Recorders with the same name and different databases would process each
 * other's jobs and remove each other's schedules. So each process claims its queues for its database
 * periodically. The claim expires after the last process ends. A queue that another database claims must not
 * be used.
 */
export class QueueOwner {
  readonly #redis: Redis | Cluster;
  readonly #key: string;
  readonly #identity: DatabaseIdentity;
  readonly #other: RedisProblem;
  /** Database of the last claim by this process. */
  #claimed: string | null = null;
  #isOthers = false;

  /** @param key key of the claim in Redis */
  constructor(redis: Redis | Cluster, key: string, kind: ParsedRedisUrl['kind'], identity: DatabaseIdentity) {
    this.#redis = redis;
    this.#key = key;
    this.#identity = identity;
    const place =
      kind === 'cluster'
        ? ''
        : 'append the number of another database to the REDIS_URL of one recorder, such as /1, or ';
    this.#other = {
      found:
        "another recorder with the same name and another database uses this queue: each would run the other's jobs, and remove its schedules",
      fix: `${place}set another name (name:) for one recorder; if the other recorder has ended, or its database was moved, retry in a minute`,
    };
  }

  /** Returns why the queue is not usable, as of the last claim. Returns null if the queue is usable. */
  get problem(): RedisProblem | null {
    return this.#isOthers ? this.#other : null;
  }

  /** Returns why the queue must not be used. Returns null if no other database claims it. */
  async objection(): Promise<RedisProblem | null> {
    const own = await this.#identity();
    return own === null || this.#isFor(own, await this.#redis.get(this.#key)) ? null : this.#other;
  }

  /**
   * Claims the queue unless another database claims the queue. If the database is unavailable, the previous
   * claim is renewed.
   */
  async claim(): Promise<void> {
    const own = (await this.#identity()) ?? this.#claimed;
    if (own === null) return;
    this.#isOthers = !this.#isFor(own, await this.#redis.get(this.#key));
    if (this.#isOthers) return;
    await this.#redis.set(this.#key, own, 'PX', CLAIM_EXPIRY_MS);
    this.#claimed = own;
  }

  /** Releases the claim. Another process of the same recorder claims the queue again. */
  async release(): Promise<void> {
    const claimed = this.#claimed;
    this.#claimed = null;
    if (claimed === null || this.#redis.status !== 'ready') return;
    const freed = async () => {
      if ((await this.#redis.get(this.#key)) === claimed) await this.#redis.del(this.#key);
    };
    await withTimeout(RELEASE_TIMEOUT_MS, freed());
  }

  /**
   * Returns true if this process may use a queue with this owner. A database that was restored from a backup
   * has a new identity. A queue that this process claimed with the previous identity stays usable.
   */
  #isFor(own: string, owner: string | null): boolean {
    return owner === null || owner === own || owner === this.#claimed;
  }
}
