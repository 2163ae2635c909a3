/** Thrown if there are too many concurrent reads. The same read may succeed a little later. */
export class ReadsBusy extends Error {
  override readonly name = 'ReadsBusy';
  /** Time to wait before a retry, in s. */
  readonly retryAfter: number;

  constructor(reason: string, retryAfter: number) {
    super(`${reason}; try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}

const RETRY_AFTER = 2;

/** Maximum number of waiting callers, and maximum wait of each, in ms. */
export interface TurnLimits {
  readonly waiting: number;
  readonly patience: number;
}

/** A caller that waits for a free place. */
interface Waiting<Place> {
  admit(place: Place): void;
}

/**
 * A semaphore over a limited number of places, with a limited number of waiting callers. Each place has one
 * user at a time.
 */
export class Turns<Place> {
  readonly #what: string;
  readonly #count: number;
  readonly #limits: TurnLimits;
  readonly #free: Place[];
  readonly #waiting = new Set<Waiting<Place>>();

  /** @param what noun of one use for messages, such as `read` */
  constructor(what: string, places: readonly Place[], limits: TurnLimits) {
    this.#what = what;
    this.#count = places.length;
    this.#limits = limits;
    this.#free = [...places];
  }

  /**
   * Uses a place exclusively.
   * @throws ReadsBusy if too many callers wait, or this one waited too long
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
    const { waiting, patience } = this.#limits;
    if (this.#waiting.size >= waiting)
      throw new ReadsBusy(`${this.#count} ${this.#what}s are under way and ${waiting} wait`, RETRY_AFTER);
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#waiting.delete(one);
      };
      const one: Waiting<Place> = {
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
        reject(new ReadsBusy(`no place for a ${this.#what} was free for ${patience / 1000} s`, RETRY_AFTER));
      }, patience);
      signal.addEventListener('abort', abort);
      this.#waiting.add(one);
    });
  }
}
