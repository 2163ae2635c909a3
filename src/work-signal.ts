import { setMaxListeners } from 'node:events';

/**
 * The signal of one piece of work, such as a call or a run: it aborts when the signal of the whole does, when `abort` is
 * called, or when its time is up. Once the work has ended nothing of it is left on the whole's signal, which may live as
 * long as the process; what `AbortSignal.any` leaves there, Node.js 20 never frees.
 */
export class WorkSignal {
  readonly #own = new AbortController();
  readonly #whole: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  #timedOut = false;

  /** @param deadline milliseconds until the work's time is up; absent: it has all the time */
  constructor(whole: AbortSignal, deadline?: number) {
    this.#whole = whole;
    setMaxListeners(0, whole); // as many as there is work under way
    if (whole.aborted) this.#follow();
    else whole.addEventListener('abort', this.#follow);
    if (deadline !== undefined) this.#timer = setTimeout(this.#expire, deadline);
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** It was the deadline that ended the work. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  abort(): void {
    this.#own.abort();
  }

  /** The work is over, one way or the other: to be called always. */
  end(): void {
    this.#whole.removeEventListener('abort', this.#follow);
    clearTimeout(this.#timer);
  }

  readonly #follow = () => this.#own.abort(this.#whole.reason);

  readonly #expire = () => {
    this.#timedOut = !this.#own.signal.aborted;
    this.abort();
  };
}
