import type { Cluster, Redis } from 'ioredis';
import type { RedisPlace } from '../config/redis-url.ts';
import { within } from '../lib/with-timeout.ts';
import type { Unfitness } from './redis-fitness.ts';

/** So long after it was claimed last a queue is nobody's, ms. */
const KEPT = 60_000;
/** How long a Redis may take to free a queue that is closed, ms. Where it does not, the queue is free later. */
const PATIENCE = 500;

/** Of which database a recorder is. @returns null where that cannot be told now */
export type DatabaseIdentity = () => Promise<string | null>;

/**
 * Whose a queue in Redis is. Recorders of one name with databases of their own would take each other's jobs and remove each other's
 * schedules. So whoever works in a queue claims it again and again for its database: the claim ends with the last of its processes, and
 * what another database claims may not be used.
 */
export class QueueOwner {
  readonly #redis: Redis | Cluster;
  readonly #key: string;
  readonly #identity: DatabaseIdentity;
  readonly #other: Unfitness;
  /** For which database this process claimed it last. */
  #claimed: string | null = null;
  #isOthers = false;

  /** @param key where the claim is kept */
  constructor(redis: Redis | Cluster, key: string, kind: RedisPlace['kind'], identity: DatabaseIdentity) {
    this.#redis = redis;
    this.#key = key;
    this.#identity = identity;
    const place =
      kind === 'cluster' ? '' : 'end REDIS_URL of one with the number of another database, such as /1, or ';
    this.#other = {
      found:
        "a recorder of the same name and another database has its queue there: each would take the other's jobs, and remove its schedules",
      mend: `${place}give one a name of its own (name:); where the other one has ended, or its database was moved, begin again in a minute`,
    };
  }

  /** Why it is not used, as it was claimed last; null: nothing speaks against it. */
  get trouble(): Unfitness | null {
    return this.#isOthers ? this.#other : null;
  }

  /** Why it may not be used; null: nobody claims it for another database. */
  async objection(): Promise<Unfitness | null> {
    const own = await this.#identity();
    return own === null || this.#isFor(own, await this.#redis.get(this.#key)) ? null : this.#other;
  }

  /** Claims it where nobody else does. A database that is away keeps its claim. */
  async claim(): Promise<void> {
    const own = (await this.#identity()) ?? this.#claimed;
    if (own === null) return;
    this.#isOthers = !this.#isFor(own, await this.#redis.get(this.#key));
    if (this.#isOthers) return;
    await this.#redis.set(this.#key, own, 'PX', KEPT);
    this.#claimed = own;
  }

  /** Gives it up. Another process of the same recorder claims it again. */
  async free(): Promise<void> {
    const claimed = this.#claimed;
    this.#claimed = null;
    if (claimed === null || this.#redis.status !== 'ready') return;
    const freed = async () => {
      if ((await this.#redis.get(this.#key)) === claimed) await this.#redis.del(this.#key);
    };
    await within(PATIENCE, freed());
  }

  /** A restored backup in the place of a database is another one: this process goes on with it. */
  #isFor(own: string, owner: string | null): boolean {
    return owner === null || owner === own || owner === this.#claimed;
  }
}
