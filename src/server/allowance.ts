/** How much of the process's time requests may take, ms. */
export interface AllowanceLimits {
  /** The part of all time that comes back to them, as it is now. */
  readonly share: () => number;
  /** The most that is put by while they take less, ms. */
  readonly reserve: number;
}

/**
 * The time that requests may take of a process which has other work. Time counts while at least one is under way: how much of it
 * is the request's own cannot be told apart, and a process does one thing at a time.
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

  /** @param now a steady time, ms, here and below */
  begin(now: number): void {
    this.#count(now);
    this.#underWay += 1;
  }

  end(now: number): void {
    this.#count(now);
    this.#underWay -= 1;
  }

  /** How long it takes until the next one may begin, ms; 0: it may now. */
  wait(now: number): number {
    this.#count(now);
    if (this.#left >= 0) return 0;
    // While one is under way nothing comes back: then this is the soonest.
    return -this.#left / this.#limits.share();
  }

  #count(now: number): void {
    const passed = Math.max(0, now - this.#at);
    this.#at = now;
    const { share, reserve } = this.#limits;
    this.#left = Math.min(reserve, this.#left + passed * (this.#underWay > 0 ? share() - 1 : share()));
  }
}
