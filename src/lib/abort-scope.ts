import { setMaxListeners } from 'node:events';

/**
 * Abort signal of one piece of work, such as an upstream call or a run. The signal aborts when the outer signal
 * aborts, when `abort` is called, or when the timeout expires. After `end`, no listener is left on the outer
 * signal, which may live as long as the process. (Node.js 20 never frees the listeners that `AbortSignal.any`
 * adds.)
 */
export class AbortScope {
  readonly #own = new AbortController();
  readonly #whole: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  #timedOut = false;

  /** @param deadline timeout of the work, in ms. Default: no timeout. */
  constructor(whole: AbortSignal, deadline?: number) {
    this.#whole = whole;
    setMaxListeners(0, whole); // one listener for each concurrent piece of work
    if (whole.aborted) this.#follow();
    else whole.addEventListener('abort', this.#follow);
    if (deadline !== undefined) this.#timer = setTimeout(this.#expire, deadline);
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** True if the timeout ended the work. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  abort(): void {
    this.#own.abort();
  }

  /** Removes the listener and the timer. Must be called whenever the work has ended, also after an error. */
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
