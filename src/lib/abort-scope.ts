import { setMaxListeners } from 'node:events';

/**
 * The signal of one piece of work, such as a call or a run: it aborts when the outer signal does, when `abort` is called,
 * or when its time is up. After the work has ended, no listener is left on the outer signal, which may live as long as the
 * process. (Node.js 20 never frees what `AbortSignal.any` leaves there.)
 */
export class WorkSignal {
  readonly #own = new AbortController();
  readonly #whole: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  #timedOut = false;

  /** @param deadline milliseconds until the work's time is up; absent: no limit */
  constructor(whole: AbortSignal, deadline?: number) {
    this.#whole = whole;
    setMaxListeners(0, whole); // one listener for each piece of work under way
    if (whole.aborted) this.#follow();
    else whole.addEventListener('abort', this.#follow);
    if (deadline !== undefined) this.#timer = setTimeout(this.#expire, deadline);
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Whether the deadline ended the work. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  abort(): void {
    this.#own.abort();
  }

  /** Ends the use of the signal. Must be called in any case when the work is over. */
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
