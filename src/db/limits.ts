/** Limits of an upstream, in its own units; undefined if unknown. */
export interface Limits {
  readonly perMinute: number | undefined;
  readonly perDay: number | undefined;
}

/** A limit that is valid now. */
export interface Limit {
  readonly units: number;
  /** Remaining validity, in ms; Infinity for a declared limit. */
  readonly lasts: number;
}

/** Windows of limits, in s. */
const MINUTE = 60;
const DAY = 86_400;

/**
 * Maximum validity of a limit from headers, in ms. It is valid for one window and no longer than this,
 * because only another response can correct it.
 */
const MAX_ANNOUNCED_LIMIT_MS = 600_000;

/**
 * The declared limits of an upstream and those in the headers of its responses; the smaller one applies. The
 * latest headers count, for a limited time, so that one wrong header does not slow the recorder down for
 * long.
 */
export class KnownLimits {
  readonly #declared: Limits;
  readonly #announced = new Map<number, { readonly units: number; readonly at: number }>();

  constructor(declared: Limits) {
    this.#declared = declared;
  }

  /** Stores a limit from the headers of a response. Windows other than a minute or a day are ignored. */
  noteAnnouncedLimit(
    { units, seconds }: { readonly units: number; readonly seconds: number },
    now: number,
  ): void {
    if (seconds === MINUTE || seconds === DAY) this.#announced.set(seconds, { units, at: now });
  }

  /**
   * Returns the limit of a minute, or null if there is none.
   * @param now ms since 1970
   */
  perMinute(now: number): Limit | null {
    return this.#limit(this.#declared.perMinute, MINUTE, now);
  }

  /**
   * Returns the limit of a day (UTC), or null if there is none.
   * @param now ms since 1970
   */
  perDay(now: number): Limit | null {
    return this.#limit(this.#declared.perDay, DAY, now);
  }

  #limit(declared: number | undefined, seconds: number, now: number): Limit | null {
    const units = declared ?? Number.POSITIVE_INFINITY;
    const announced = this.#announced.get(seconds);
    // A limit with a time in the future was stored while the clock was ahead, and is ignored.
    const age = announced && announced.at <= now ? now - announced.at : Number.POSITIVE_INFINITY;
    const lasts = Math.min(seconds * 1000, MAX_ANNOUNCED_LIMIT_MS) - age;
    if (announced && lasts > 0 && announced.units < units) return { units: announced.units, lasts };
    return declared === undefined ? null : { units: declared, lasts: Number.POSITIVE_INFINITY };
  }
}
