import type postgres from 'postgres';
import { CONNECTION } from './client.ts';
import { connectPool } from './connect.ts';
import { yieldToOthers } from './process-priority.ts';
import { type Answer, askAsReader } from './question.ts';
import type { Replica } from './replica.ts';
import { Turns } from './semaphore.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** How much is read at once. */
export interface ReadLimits {
  /** Reads at once: each has a connection. */
  readonly atOnce: number;
  /** Reads that may wait for a connection. */
  readonly waiting: number;
  /** How long a read may wait, ms. */
  readonly patience: number;
  /** Who reads yields its processor to who records. Only of the embedded server: its processes are of this machine. */
  readonly yields: boolean;
}

const LIMITS: ReadLimits = { atOnce: 4, waiting: 100, patience: 5_000, yields: false };

/** Questions of users at once, beside the reads, and those that may wait. Each has a session of its own. */
const QUESTIONS = { atOnce: 2, waiting: 10 };

/** A question that a user wrote. */
export interface UsersQuestion {
  readonly text: string;
  /** Names without a schema show what was known at this moment, as PostgreSQL reads it; null: now. */
  readonly asOf: string | null;
  /** The longest that a block of its rows may take, ms. */
  readonly timeout: number;
}

/**
 * What pages and the API read goes through here, so that it never delays the recording: few connections of its own, which can
 * only read, one core a statement, a limit of time for each statement, and a limit of how many reads wait.
 */
export class ReadGate {
  readonly #url: string;
  readonly #replica: Replica | null;
  readonly #yields: boolean;
  readonly #places: readonly Place[];
  readonly #reads: Turns<Place>;
  readonly #questions: Turns<number>;

  /**
   * Connections are made when they are needed.
   * @param url postgres://…, as in DATABASE_URL
   * @param replica what is read in its place; null: it is read itself
   */
  constructor(url: string, limits: Partial<ReadLimits> = {}, replica: Replica | null = null) {
    const { atOnce, waiting, patience, yields } = { ...LIMITS, ...limits };
    this.#url = url;
    this.#replica = replica;
    this.#yields = yields && replica === null;
    this.#places = Array.from({ length: atOnce }, () => new Place(replica?.url ?? url, this.#yields));
    this.#reads = new Turns('read', this.#places, { waiting, patience });
    const questions = Array.from({ length: QUESTIONS.atOnce }, (_, at) => at);
    this.#questions = new Turns('question', questions, { waiting: QUESTIONS.waiting, patience });
  }

  /**
   * Runs `work` with a connection that nobody else uses meanwhile. What `work` asks is cancelled when `signal` aborts.
   * @param work must not use the connection after it has ended
   * @throws ReadsBusy when too many reads wait, or this one waited too long; ReplicaAway; the signal's reason when it aborted
   */
  async read<T>(work: (sql: postgres.Sql) => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#reads.take((place) => this.#explained(this.#replica, () => place.use(work, signal)), signal);
  }

  /**
   * Asks what a user wrote, as {@link askAsReader} does. Few questions are asked at once, each on one core.
   * @throws ReadsBusy when too many questions wait, or this one waited too long; ReplicaAway; what `askAsReader` throws
   */
  async ask<T>(
    { text, asOf, timeout }: UsersQuestion,
    read: (answer: Answer) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const options = { asOf, timeout, signal, beside: true, yields: this.#yields };
    // What was known at a past moment is asked by temporary views, which no replica has.
    const replica = asOf === null ? this.#replica : null;
    const asked = () => askAsReader(replica?.url ?? this.#url, text, options, read);
    return this.#questions.take(() => this.#explained(replica, asked), signal);
  }

  async #explained<T>(replica: Replica | null, work: () => Promise<T>): Promise<T> {
    if (!replica) return work();
    replica.hold();
    try {
      return await work();
    } catch (error) {
      throw replica.explained(error);
    }
  }

  /** Ends all connections; what still runs is cancelled. */
  async close(): Promise<void> {
    await Promise.all(this.#places.map((place) => place.close()));
  }
}

/** A connection for reading, or where one will be made. */
class Place {
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
    // Each time: the driver makes a new connection when it was silent for a while.
    const done = this.#yields ? yieldToOthers(client).then(() => work(client)) : work(client);
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        // The server cancels what a closed connection has asked. postgres.js's own `cancel()` can hit the statement after it.
        void this.close();
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort);
    });
    try {
      return await Promise.race([done, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
      done.catch(() => {}); // after an abort nobody waits for it
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
    ...CONNECTION,
    max: 1,
    connection: {
      ...sessionSettings('reader'),
      // The API tells intervals as durations, and takes them so as filters.
      IntervalStyle: 'iso_8601',
      // A statement whose client has gone ends after this time, ms.
      client_connection_check_interval: '250',
      max_parallel_workers_per_gather: '0',
    },
  });
}
