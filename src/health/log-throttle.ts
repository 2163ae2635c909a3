import type { Clock } from '../lib/clock.ts';

/** Limits how often something is logged. */
export class Seldom {
  readonly #clock: Clock;
  readonly #every: number;
  #toldAt = Number.NEGATIVE_INFINITY;

  /** @param every the least time between two logs, in the clock's ms */
  constructor(clock: Clock, every: number) {
    this.#clock = clock;
    this.#every = every;
  }

  /** Whether it may be logged now; if so, it counts as logged. */
  mayTell(): boolean {
    const now = this.#clock();
    if (now - this.#toldAt < this.#every) return false;
    this.#toldAt = now;
    return true;
  }
}
