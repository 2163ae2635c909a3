/** A probe that is due. */
export interface DueProbe<T> {
  readonly probe: T;
  /** Scheduled time, in ms on the clock of the caller. */
  readonly planned: number;
}

/**
 * Schedules every probe once per interval, spread evenly. After a delay, each overdue probe is queried once.
 * The other overdue queries of the probe are not repeated and count as missed.
 */
export class ProbeSchedule<T> {
  readonly #probes: readonly T[];
  readonly #every: number;
  readonly #start: number;
  /** Number of scheduled queries so far. Number n belongs to probe n modulo the number of probes. */
  #next = 0;
  missed = 0;

  /**
   * @param start scheduled time of the first probe, in ms
   * @param every interval between two queries of a probe, in ms
   */
  constructor(probes: readonly T[], every: number, start: number) {
    this.#probes = probes;
    this.#every = every;
    this.#start = start;
  }

  /** Returns up to `most` probes that are due at `now`, the longest overdue first. */
  due(now: number, most: number): DueProbe<T>[] {
    const come = this.#come(now);
    const count = this.#probes.length;
    if (come - this.#next > count) {
      this.missed += come - count - this.#next;
      this.#next = come - count;
    }
    const due: DueProbe<T>[] = [];
    for (const end = Math.min(come, this.#next + most); this.#next < end; this.#next++) {
      const probe = this.#probes[this.#next % count];
      if (probe !== undefined) due.push({ probe, planned: this.#planned(this.#next) });
    }
    return due;
  }

  /** Returns whether a probe is due that was not returned yet. */
  late(now: number): boolean {
    return this.#come(now) > this.#next;
  }

  /** Time of the next query, in ms. */
  get next(): number {
    return this.#probes.length === 0 ? Number.POSITIVE_INFINITY : this.#planned(this.#next);
  }

  #planned(moment: number): number {
    const count = this.#probes.length;
    return this.#start + Math.floor(moment / count) * this.#every + ((moment % count) * this.#every) / count;
  }

  /** Returns the number of scheduled queries up to `now`. */
  #come(now: number): number {
    const count = this.#probes.length;
    if (count === 0 || now < this.#start) return 0;
    const rounds = Math.floor((now - this.#start) / this.#every);
    const rest = now - this.#start - rounds * this.#every;
    return rounds * count + Math.min(count, Math.floor((rest * count) / this.#every) + 1);
  }
}
