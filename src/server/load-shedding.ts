import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TooManyReadsError } from '../db/semaphore.ts';
import { WATCHER_PATHS } from './connections.ts';

/** Limits of the process time that requests may use. */
interface AllowanceLimits {
  /** Returns the current share of the elapsed time that is credited, from 0 to 1. */
  readonly share: () => number;
  /** Maximum unused credit, in ms. */
  readonly reserve: number;
}

/**
 * A token bucket of process time for requests, in a process with other work. Time is charged while at least
 * one request is in progress, because the share of each request cannot be measured.
 */
export class RequestTimeBucket {
  readonly #limits: AllowanceLimits;
  #left: number;
  #at = 0;
  #underWay = 0;

  constructor(limits: AllowanceLimits) {
    this.#limits = limits;
    this.#left = limits.reserve;
  }

  /**
   * Counts a request as in progress.
   * @param now monotonic time in ms, as in the other methods
   */
  begin(now: number): void {
    this.#count(now);
    this.#underWay += 1;
  }

  end(now: number): void {
    this.#count(now);
    this.#underWay -= 1;
  }

  /** Returns the wait until the next request may start, in ms; 0 if it may start now. */
  wait(now: number): number {
    this.#count(now);
    if (this.#left >= 0) return 0;
    // Credit accrues only while no request is in progress, so this is the minimum wait.
    return -this.#left / this.#limits.share();
  }

  #count(now: number): void {
    const passed = Math.max(0, now - this.#at);
    this.#at = now;
    const { share, reserve } = this.#limits;
    this.#left = Math.min(reserve, this.#left + passed * (this.#underWay > 0 ? share() - 1 : share()));
  }
}

/** Limits of the requests in a process with other work. */
export interface ThrottleLimits extends AllowanceLimits {
  /** Maximum number of concurrent requests. */
  readonly atOnce: number;
  /**
   * Maximum time for which a request counts as concurrent, in ms. After that time, most requests
   * only wait for the database.
   */
  readonly counted: number;
  /** Maximum wait of a request, in ms. */
  readonly maxWaitMs: number;
  /** Maximum number of waiting requests. */
  readonly waiting: number;
}

/** Limits for readers. A person who opens one page after another uses less than the reserve. */
const READER_LIMITS = { atOnce: 4, reserve: 2_000, counted: 250, maxWaitMs: 10_000, waiting: 1_000 };
/** Limits for monitoring, separate from those for readers. */
const MONITORING_LIMITS = { ...READER_LIMITS, reserve: 500 };
/**
 * Shares of the process time that requests may use: while the process records, while the process waits for
 * the next recording, and in a process that never records.
 */
const SHARES = {
  readers: { recording: 0.25, waiting: 0.75, never: 1 },
  watchers: { recording: 0.05, waiting: 0.1, never: 1 },
} as const;

/** Paths that are never throttled, because a response takes no more time than a refusal. */
const PROBE_PATHS = /^\/(health|ready)(\?|$)/;

/** Minimum delay before waiting requests are checked again, in ms. */
const MIN_CHECK_DELAY_MS = 5;
/** Time after which a refused request may be retried, in s. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Throttles every request of a server, except {@link PROBE_PATHS}.
 * @param recording returns whether the process records at this moment, so that requests get a small share of
 * the process time; null if the process never records
 * @returns the throttle of readers, for work in several parts, such as large files
 */
export function throttleRequests(
  server: FastifyInstance,
  recording: (() => boolean) | null,
): RequestThrottle {
  const shareOf = (shares: (typeof SHARES)[keyof typeof SHARES]) => () =>
    recording ? shares[recording() ? 'recording' : 'waiting'] : shares.never;
  const atOnce = recording ? READER_LIMITS.atOnce : Number.POSITIVE_INFINITY;
  const readers = new RequestThrottle({ ...READER_LIMITS, atOnce, share: shareOf(SHARES.readers) });
  const watchers = new RequestThrottle({ ...MONITORING_LIMITS, atOnce, share: shareOf(SHARES.watchers) });
  server.addHook('onRequest', (request, reply, begin) => {
    if (PROBE_PATHS.test(request.url)) {
      begin();
      return;
    }
    const pace = WATCHER_PATHS.test(request.url) ? watchers : readers;
    pace.admit(request, reply, begin);
  });
  return readers;
}

/**
 * A queue that starts requests within their share of the process time, one per iteration of the event loop,
 * so that other work of the process, such as recording, continues. Clients are served in turn, and the
 * requests of each client in order. A request is refused if it waits too long, or if too many requests wait.
 */
export class RequestThrottle {
  readonly #limits: ThrottleLimits;
  readonly #allowance: RequestTimeBucket;
  /** Waiting requests by client; the first entry is served next. */
  readonly #lines = new Map<string, Set<QueuedRequest>>();
  #waiting = 0;
  #underWay = 0;
  #pending = false;

  constructor(limits: ThrottleLimits) {
    this.#limits = limits;
    this.#allowance = new RequestTimeBucket(limits);
  }

  /**
   * Queues a request until it may start.
   * @param begin called without an argument to start the request, or with an error to refuse the request; not
   * called after the client has disconnected
   */
  admit(
    { socket: { remoteAddress = '' } }: FastifyRequest,
    { raw }: FastifyReply,
    begin: (refused?: TooManyReadsError) => void,
  ): void {
    const { leave } = this.#join(remoteAddress, (refused) => {
      if (!refused) raw.once('close', this.#begin());
      begin(refused);
    });
    raw.once('close', leave);
  }

  /**
   * Waits until a part of long work may start, such as the next page of a file.
   * @param line the client for which the work is done
   * @returns a function that ends the work
   * @throws TooManyReadsError if the work is refused
   */
  acquireTurn(line: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.#join(line, (refused) => (refused ? reject(refused) : resolve(this.#begin())));
    });
  }

  #join(line: string, go: QueuedRequest['go']): { leave(): void } {
    const { waiting, maxWaitMs } = this.#limits;
    if (this.#waiting >= waiting) {
      go(new TooManyReadsError(`${waiting} requests are waiting`, RETRY_AFTER_SECONDS));
      return { leave: () => {} };
    }
    const one: QueuedRequest = {
      go: (refused) => {
        leave();
        go(refused);
      },
    };
    const leave = () => {
      clearTimeout(timer);
      const others = this.#lines.get(line);
      if (!others?.delete(one)) return;
      this.#waiting -= 1;
      if (others.size === 0) this.#lines.delete(line);
    };
    // Jitter: requests that arrived together are not refused together.
    const timer = setTimeout(
      () =>
        one.go(
          new TooManyReadsError(
            `the request was queued for more than ${maxWaitMs / 1000} s`,
            RETRY_AFTER_SECONDS,
          ),
        ),
      maxWaitMs * (0.8 + Math.random() * 0.2),
    );
    const others = this.#lines.get(line) ?? new Set();
    this.#lines.set(line, others.add(one));
    this.#waiting += 1;
    this.#startNextWhenAllowed();
    return { leave };
  }

  /**
   * Counts a request as in progress.
   * @returns a function that counts the request as ended
   */
  #begin(): () => void {
    this.#allowance.begin(performance.now());
    this.#underWay += 1;
    let over = false;
    const end = () => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      this.#allowance.end(performance.now());
      this.#underWay -= 1;
      this.#startNextWhenAllowed();
    };
    const timer = setTimeout(end, this.#limits.counted);
    return end;
  }

  #startNextWhenAllowed(): void {
    if (this.#pending || this.#waiting === 0 || this.#underWay >= this.#limits.atOnce) return;
    this.#pending = true;
    const next = () => {
      this.#pending = false;
      if (this.#allowance.wait(performance.now()) === 0) this.#next();
      this.#startNextWhenAllowed();
    };
    const wait = this.#allowance.wait(performance.now());
    if (wait === 0) setImmediate(next);
    else setTimeout(next, Math.max(MIN_CHECK_DELAY_MS, wait));
  }

  #next(): void {
    const [found] = this.#lines;
    if (!found) return;
    const [line, waiting] = found;
    const [one] = waiting;
    // Moves the client to the end of the order.
    this.#lines.delete(line);
    this.#lines.set(line, waiting);
    one?.go();
  }
}

interface QueuedRequest {
  go(refused?: TooManyReadsError): void;
}
