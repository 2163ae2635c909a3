/** A probe that is due. */
export interface Due<T> {
  readonly probe: T;
  /** The planned moment, ms on the caller's clock. */
  readonly planned: number;
}

/**
 * Gives every probe a moment once an interval, spread evenly over it. Moments that passed without a look are not made up
 * for: each probe is asked once, and the other moments are counted as missed.
 */
export class Rounds<T> {
  readonly #probes: readonly T[];
  readonly #every: number;
  readonly #start: number;
  /** Moments so far: number n belongs to probe n modulo their count. */
  #next = 0;
  missed = 0;

  /** @param start the first probe's first moment, ms; @param every ms between two looks at a probe */
  constructor(probes: readonly T[], every: number, start: number) {
    this.#probes = probes;
    this.#every = every;
    this.#start = start;
  }

  /** The probes that are due at `now`, at most `most`; those that wait longest come first. */
  due(now: number, most: number): Due<T>[] {
    const come = this.#come(now);
    const count = this.#probes.length;
    if (come - this.#next > count) {
      this.missed += come - count - this.#next;
      this.#next = come - count;
    }
    const due: Due<T>[] = [];
    for (const end = Math.min(come, this.#next + most); this.#next < end; this.#next++) {
      const probe = this.#probes[this.#next % count];
      if (probe !== undefined) due.push({ probe, planned: this.#planned(this.#next) });
    }
    return due;
  }

  /** Whether a probe is due that was not asked yet. */
  late(now: number): boolean {
    return this.#come(now) > this.#next;
  }

  /** The next moment, ms. */
  get next(): number {
    return this.#probes.length === 0 ? Number.POSITIVE_INFINITY : this.#planned(this.#next);
  }

  #planned(moment: number): number {
    const count = this.#probes.length;
    return this.#start + Math.floor(moment / count) * this.#every + ((moment % count) * this.#every) / count;
  }

  /** How many moments have come. */
  #come(now: number): number {
    const count = this.#probes.length;
    if (count === 0 || now < this.#start) return 0;
    const rounds = Math.floor((now - this.#start) / this.#every);
    const rest = now - this.#start - rounds * this.#every;
    return rounds * count + Math.min(count, Math.floor((rest * count) / this.#every) + 1);
  }
}
