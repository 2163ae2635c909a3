import type postgres from 'postgres';
import { CONNECTION_OPTIONS } from './client.ts';
import { connectPool } from './connect.ts';
import { lowerPriority } from './process-priority.ts';
import { queryAsReader, type ReaderQueryResult } from './query-as-reader.ts';
import type { Replica } from './replica.ts';
import { Semaphore } from './semaphore.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** Limits of concurrent reads. */
export interface ReadLimits {
  /** Maximum number of concurrent reads. Each read has a connection. */
  readonly maxConcurrent: number;
  /** Maximum number of reads that wait for a connection. */
  readonly waiting: number;
  /** Maximum wait of a read, in ms. */
  readonly maxWaitMs: number;
  /**
   * Lowers the CPU priority of reads below that of recording. Only for the embedded server, whose processes
   * run on this machine.
   */
  readonly yields: boolean;
}

const DEFAULT_LIMITS: ReadLimits = { maxConcurrent: 4, waiting: 100, maxWaitMs: 5_000, yields: false };

/**
 * Maximum number of concurrent queries of users, in addition to the reads, and of queries that wait. Each
 * query has a separate session.
 */
const USER_QUERY_LIMITS = { maxConcurrent: 2, waiting: 10 };

/** A query that a user wrote. */
export interface UserQuestion {
  readonly text: string;
  /**
   * Moment as of which relations that are named without a schema return their rows, in a format that
   * PostgreSQL parses. Null: the current rows.
   */
  readonly asOf: string | null;
  /** Timeout of one block of rows of the result, in ms. */
  readonly timeout: number;
}

/**
 * A limiter of the reads of pages and the API, so that these reads never delay the recording. The reads have
 * a few separate connections, which can only read. Each statement has one core and a timeout; the number of
 * waiting reads is limited.
 */
export class ReadGate {
  readonly #url: string;
  readonly #replica: Replica | null;
  readonly #yields: boolean;
  readonly #places: readonly ReadConnection[];
  readonly #reads: Semaphore<ReadConnection>;
  readonly #userQueries: Semaphore<number>;

  /**
   * Creates the gate. Connections are opened when they are needed.
   * @param url postgres://…, as in DATABASE_URL
   * @param replica read instead of the primary; null to read the primary
   */
  constructor(url: string, limits: Partial<ReadLimits> = {}, replica: Replica | null = null) {
    const { maxConcurrent, waiting, maxWaitMs, yields } = { ...DEFAULT_LIMITS, ...limits };
    this.#url = url;
    this.#replica = replica;
    this.#yields = yields && replica === null;
    this.#places = Array.from(
      { length: maxConcurrent },
      () => new ReadConnection(replica?.url ?? url, this.#yields),
    );
    this.#reads = new Semaphore('read', this.#places, { waiting, maxWaitMs });
    const places = Array.from({ length: USER_QUERY_LIMITS.maxConcurrent }, (_, at) => at);
    this.#userQueries = new Semaphore('question', places, {
      waiting: USER_QUERY_LIMITS.waiting,
      maxWaitMs,
    });
  }

  /**
   * Runs `work` with a connection that nothing else uses at the same time. The statements of `work` are
   * cancelled if `signal` aborts.
   * @param work must not use the connection after its promise has settled
   * @throws TooManyReadsError if too many reads wait, or this one waited too long
   * @throws ReplicaUnavailableError if the replica is unavailable
   * @throws the reason of the signal if it aborted
   */
  async read<T>(work: (sql: postgres.Sql) => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#reads.take((place) => this.#explained(this.#replica, () => place.use(work, signal)), signal);
  }

  /**
   * Runs a user's query, as {@link queryAsReader} does. Few queries run at once, each on one core.
   * @throws TooManyReadsError if too many queries wait, or this one waited too long
   * @throws ReplicaUnavailableError if the replica is unavailable
   * @throws the errors of `queryAsReader`
   */
  async runQuery<T>(
    { text, asOf, timeout }: UserQuestion,
    read: (answer: ReaderQueryResult) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const options = { asOf, timeout, signal, beside: true, yields: this.#yields };
    // Queries of a past moment need temporary views, which a replica cannot create.
    const replica = asOf === null ? this.#replica : null;
    const run = () => queryAsReader(replica?.url ?? this.#url, text, options, read);
    return this.#userQueries.take(() => this.#explained(replica, run), signal);
  }

  async #explained<T>(replica: Replica | null, work: () => Promise<T>): Promise<T> {
    if (!replica) return work();
    replica.hold();
    try {
      return await work();
    } catch (error) {
      throw replica.explainError(error);
    }
  }

  /** Closes all connections; running statements are cancelled. */
  async close(): Promise<void> {
    await Promise.all(this.#places.map((place) => place.close()));
  }
}

/** A connection for reads, opened at its first use. */
class ReadConnection {
  readonly #url: string;
  readonly #yields: boolean;
  #client: postgres.Sql | null = null;

  constructor(url: string, yields: boolean) {
    this.#url = url;
    this.#yields = yields;
  }

  async use<T>(work: (sql: postgres.Sql) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    this.#client ??= open(this.#url);
    const client = this.#client;
    // The priority is lowered at each use, because the driver replaces a connection that was idle for a
    // while.
    const done = this.#yields ? lowerPriority(client, 'page').then(() => work(client)) : work(client);
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        // The server cancels the statement of a closed connection. postgres.js's own `cancel()` can cancel
        // the next statement instead.
        void this.close();
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort);
    });
    try {
      return await Promise.race([done, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
      done.catch(() => {}); // nothing awaits it after an abort
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end({ timeout: 0 });
  }
}

function open(url: string): postgres.Sql {
  return connectPool(url, silenceOf('reader'), {
    ...CONNECTION_OPTIONS,
    max: 1,
    connection: {
      ...sessionSettings('reader'),
      // The API returns intervals as ISO 8601 durations, and accepts them as filters.
      IntervalStyle: 'iso_8601',
      // Interval in which the server detects that its client has disconnected, and cancels the statement; in
      // ms.
      client_connection_check_interval: '250',
      max_parallel_workers_per_gather: '0',
    },
  });
}
