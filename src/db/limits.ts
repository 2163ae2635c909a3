/** What an upstream allows, in its own units; undefined: it has not said. */
export interface Limits {
  readonly perMinute: number | undefined;
  readonly perDay: number | undefined;
}

/** A limit that holds now. */
export interface Limit {
  readonly units: number;
  /** Milliseconds for which it holds; what was declared holds for ever. */
  readonly lasts: number;
}

/** Windows of limits, in seconds. */
const MINUTE = 60;
const DAY = 86_400;

/** What an upstream said is believed for one window, and no longer than this, in ms: only another answer corrects it. */
const LONGEST_BELIEF = 600_000;

/**
 * The declared limits of an upstream, and what it says itself in its answers' headers: the smaller of the two holds. Of
 * what it says the latest counts, and not for long: an upstream that once said too little is asked again.
 */
export class KnownLimits {
  readonly #declared: Limits;
  readonly #announced = new Map<number, { readonly units: number; readonly at: number }>();

  constructor(declared: Limits) {
    this.#declared = declared;
  }

  /** The upstream said what it allows in a window of so many seconds; windows other than a minute and a day are none. */
  hear({ units, seconds }: { readonly units: number; readonly seconds: number }, now: number): void {
    if (seconds === MINUTE || seconds === DAY) this.#announced.set(seconds, { units, at: now });
  }

  /** What it may be asked in a minute; null: as much as one likes. @param now ms since 1970 */
  perMinute(now: number): Limit | null {
    return this.#limit(this.#declared.perMinute, MINUTE, now);
  }

  /** What it may be asked in a day (UTC); null: as much as one likes. @param now ms since 1970 */
  perDay(now: number): Limit | null {
    return this.#limit(this.#declared.perDay, DAY, now);
  }

  #limit(declared: number | undefined, seconds: number, now: number): Limit | null {
    const units = declared ?? Number.POSITIVE_INFINITY;
    const announced = this.#announced.get(seconds);
    // What was said in the future was heard by a clock that was ahead, and counts as nothing.
    const age = announced && announced.at <= now ? now - announced.at : Number.POSITIVE_INFINITY;
    const lasts = Math.min(seconds * 1000, LONGEST_BELIEF) - age;
    if (announced && lasts > 0 && announced.units < units) return { units: announced.units, lasts };
    return declared === undefined ? null : { units: declared, lasts: Number.POSITIVE_INFINITY };
  }
}
