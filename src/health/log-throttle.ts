import type { Clock } from '../lib/clock.ts';

/** Limits the rate of a log message. */
export class LogThrottle {
  readonly #clock: Clock;
  readonly #every: number;
  #loggedAt = Number.NEGATIVE_INFINITY;

  /** @param every minimum interval between two messages, in ms of the clock */
  constructor(clock: Clock, every: number) {
    this.#clock = clock;
    this.#every = every;
  }

  /** Returns whether a message may be logged now, and if so, counts it as logged. */
  shouldLog(): boolean {
    const now = this.#clock();
    if (now - this.#loggedAt < this.#every) return false;
    this.#loggedAt = now;
    return true;
  }
}
