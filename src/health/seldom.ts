import type { Clock } from '../clock.ts';

/** Lets something be told at most once in a while. */
export class Seldom {
  readonly #clock: Clock;
  readonly #every: number;
  #toldAt = Number.NEGATIVE_INFINITY;

  /** @param every the least time between two tellings, in the clock's ms */
  constructor(clock: Clock, every: number) {
    this.#clock = clock;
    this.#every = every;
  }

  /** Whether it is time again; counts as told then. */
  mayTell(): boolean {
    const now = this.#clock();
    if (now - this.#toldAt < this.#every) return false;
    this.#toldAt = now;
    return true;
  }
}
