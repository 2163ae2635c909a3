/** Limits of the time that requests may use, in ms. */
export interface AllowanceLimits {
  /** Share of the elapsed time that is credited, at this moment. */
  readonly share: () => number;
  /** Maximum unused credit, in ms. */
  readonly reserve: number;
}

/**
 * A token bucket of process time for requests, in a process with other work. Time counts while at least one
 * request is in progress. The part of each request cannot be measured, and a process does one thing at a
 * time.
 */
export class Allowance {
  readonly #limits: AllowanceLimits;
  #left: number;
  #at = 0;
  #underWay = 0;

  constructor(limits: AllowanceLimits) {
    this.#limits = limits;
    this.#left = limits.reserve;
  }

  /** @param now monotonic time in ms, here and below */
  begin(now: number): void {
    this.#count(now);
    this.#underWay += 1;
  }

  end(now: number): void {
    this.#count(now);
    this.#underWay -= 1;
  }

  /** Returns the wait until the next request may start, in ms; 0 if it may start now. */
  wait(now: number): number {
    this.#count(now);
    if (this.#left >= 0) return 0;
    // While a request is in progress no credit accrues: this is the earliest time.
    return -this.#left / this.#limits.share();
  }

  #count(now: number): void {
    const passed = Math.max(0, now - this.#at);
    this.#at = now;
    const { share, reserve } = this.#limits;
    this.#left = Math.min(reserve, this.#left + passed * (this.#underWay > 0 ? share() - 1 : share()));
  }
}
