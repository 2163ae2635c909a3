/**
 * Error of a read that is refused because of too many concurrent reads. The same read may succeed a little
 * later.
 */
export class TooManyReadsError extends Error {
  override readonly name = 'TooManyReadsError';
  /** Time to wait before a retry, in s. */
  readonly retryAfter: number;

  constructor(reason: string, retryAfter: number) {
    super(`${reason}; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

const RETRY_AFTER_SECONDS = 2;

/** Limits of the callers that wait for a free place. */
export interface SemaphoreLimits {
  /** Maximum number of waiting callers. */
  readonly waiting: number;
  /** Maximum wait of a caller, in ms. */
  readonly maxWaitMs: number;
}

/** A caller that waits for a free place. */
interface SemaphoreWaiter<Place> {
  admit(place: Place): void;
}

/**
 * A semaphore over a limited number of places, with a limited number of waiting callers. Each place has one
 * user at a time.
 */
export class Semaphore<Place> {
  readonly #what: string;
  readonly #count: number;
  readonly #limits: SemaphoreLimits;
  readonly #free: Place[];
  readonly #waiting = new Set<SemaphoreWaiter<Place>>();

  /** @param what noun of one use for messages, such as `read` */
  constructor(what: string, places: readonly Place[], limits: SemaphoreLimits) {
    this.#what = what;
    this.#count = places.length;
    this.#limits = limits;
    this.#free = [...places];
  }

  /**
   * Runs `use` with one free place. No other caller gets this place until `use` has ended.
   * @throws TooManyReadsError if too many callers wait, or this one waited too long
   * @throws the reason of the signal if it aborted, and the errors of `use`
   */
  async take<T>(use: (place: Place) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const place = this.#free.pop() ?? (await this.#next(signal));
    try {
      return await use(place);
    } finally {
      const [next] = this.#waiting;
      if (next) next.admit(place);
      else this.#free.push(place);
    }
  }

  #next(signal: AbortSignal): Promise<Place> {
    const { waiting, maxWaitMs } = this.#limits;
    if (this.#waiting.size >= waiting)
      throw new TooManyReadsError(
        `${this.#count} ${this.#what}s are in progress and ${waiting} wait`,
        RETRY_AFTER_SECONDS,
      );
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#waiting.delete(one);
      };
      const one: SemaphoreWaiter<Place> = {
        admit: (place) => {
          leave();
          resolve(place);
        },
      };
      const abort = () => {
        leave();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        leave();
        reject(
          new TooManyReadsError(
            `the ${this.#what} waited for more than ${maxWaitMs / 1000} s`,
            RETRY_AFTER_SECONDS,
          ),
        );
      }, maxWaitMs);
      signal.addEventListener('abort', abort);
      this.#waiting.add(one);
    });
  }
}
