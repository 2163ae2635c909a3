/** What an upstream allows, in its own units; undefined: not known. */
export interface Limits {
  readonly perMinute: number | undefined;
  readonly perDay: number | undefined;
}

/** A limit that holds now. */
export interface Limit {
  readonly units: number;
  /** Milliseconds for which it holds; Infinity for a declared one. */
  readonly lasts: number;
}

/** Windows of limits, in seconds. */
const MINUTE = 60;
const DAY = 86_400;

/** A limit from headers holds for one window, and no longer than this, in ms: only another answer can correct it. */
const LONGEST_BELIEF = 600_000;

/**
 * The declared limits of an upstream, and those in its answers' headers: the smaller of the two holds. Of the headers the
 * latest counts, for a limited time, so that one wrong header does not slow the recorder down for long.
 */
export class KnownLimits {
  readonly #declared: Limits;
  readonly #announced = new Map<number, { readonly units: number; readonly at: number }>();

  constructor(declared: Limits) {
    this.#declared = declared;
  }

  /** Notes a limit from an answer's headers. Only windows of a minute and of a day count. */
  hear({ units, seconds }: { readonly units: number; readonly seconds: number }, now: number): void {
    if (seconds === MINUTE || seconds === DAY) this.#announced.set(seconds, { units, at: now });
  }

  /** The limit of a minute; null: none. @param now ms since 1970 */
  perMinute(now: number): Limit | null {
    return this.#limit(this.#declared.perMinute, MINUTE, now);
  }

  /** The limit of a day (UTC); null: none. @param now ms since 1970 */
  perDay(now: number): Limit | null {
    return this.#limit(this.#declared.perDay, DAY, now);
  }

  #limit(declared: number | undefined, seconds: number, now: number): Limit | null {
    const units = declared ?? Number.POSITIVE_INFINITY;
    const announced = this.#announced.get(seconds);
    // A limit with a time in the future was noted by a clock that was ahead, and does not count.
    const age = announced && announced.at <= now ? now - announced.at : Number.POSITIVE_INFINITY;
    const lasts = Math.min(seconds * 1000, LONGEST_BELIEF) - age;
    if (announced && lasts > 0 && announced.units < units) return { units: announced.units, lasts };
    return declared === undefined ? null : { units: declared, lasts: Number.POSITIVE_INFINITY };
  }
}
