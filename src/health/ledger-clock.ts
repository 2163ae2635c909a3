import type { Clock } from '../lib/clock.ts';

/** Maximum difference of clocks that agree, in ms. */
const MAX_CLOCK_DIFFERENCE_MS = 1_000;
/** Time after which a change of the wall clock counts as permanent, in ms. */
const CLOCK_CHANGE_DELAY_MS = 45_000;

/**
 * Conversion from the monotonic clock to wall time, which applies from the moment `from` on. `floor` is the
 * minimum of the wall time.
 */
interface ClockConversion {
  readonly from: number;
  readonly offset: number;
  readonly floor: number;
}

/**
 * A permanent change of the wall clock. If the clock was set forward, the time between both moments was
 * skipped. Wall times, in ms since 1970.
 */
export interface ClockChange {
  readonly by: number;
  readonly skipped: { readonly from: number; readonly to: number } | null;
}

/**
 * The time of the ledger. Queries are timed by a monotonic clock, which cannot be set and which includes
 * sleep. These times are converted to wall times when the results are written. While the wall clock
 * contradicts the monotonic clock, nothing can be written. If the wall clock returns to its old course, its
 * change has no effect; otherwise the change is accepted as permanent. If a clock is set back, the ledger is
 * stalled until the clock has passed the written time.
 */
export class LedgerClock {
  readonly #wall: Clock;
  readonly #steady: Clock;
  readonly #conversions: ClockConversion[];
  #agreedAt: number;
  #pendingChange: { readonly since: number; readonly offset: number } | null = null;

  /** @param floor newest wall time in the stored ledger, in ms since 1970 */
  constructor(wall: Clock, steady: Clock, floor = 0) {
    this.#wall = wall;
    this.#steady = steady;
    this.#agreedAt = steady();
    this.#conversions = [{ from: Number.NEGATIVE_INFINITY, offset: wall() - this.#agreedAt, floor }];
  }

  /** Returns the time of the monotonic clock, in ms. */
  now(): number {
    return this.#steady();
  }

  /** Offset by which the wall clock is ahead of the ledger, in ms. 0: both agree. */
  get disagreement(): number {
    const ahead = this.#wall() - this.#steady() - this.#latest.offset;
    return Math.abs(ahead) < MAX_CLOCK_DIFFERENCE_MS ? 0 : ahead;
  }

  /** True if the clocks contradict each other, so that nothing can be written. */
  get isDoubtful(): boolean {
    return this.#pendingChange !== null;
  }

  /**
   * Compares the clocks. Must be called often.
   * @returns the change of the wall clock if it was just accepted as permanent; else null
   */
  compare(): ClockChange | null {
    const now = this.#steady();
    const offset = this.#wall() - now;
    const by = offset - this.#latest.offset;
    if (Math.abs(by) < MAX_CLOCK_DIFFERENCE_MS) {
      this.#pendingChange = null;
      this.#agreedAt = now;
      return null;
    }
    if (!this.#pendingChange || Math.abs(offset - this.#pendingChange.offset) >= MAX_CLOCK_DIFFERENCE_MS)
      this.#pendingChange = { since: now, offset };
    if (now - this.#pendingChange.since < CLOCK_CHANGE_DELAY_MS) return null;
    const from = this.toWall(this.#agreedAt);
    // All conversions are kept, because older moments wait while the database is unavailable. A clock is
    // rarely changed.
    this.#conversions.push({ from: this.#agreedAt + 1, offset, floor: from });
    this.#pendingChange = null;
    this.#agreedAt = now;
    return { by, skipped: by > 0 ? { from, to: from + by } : null };
  }

  /** Returns the wall time of a moment of the monotonic clock. */
  toWall(steady: number): number {
    const conversion = this.#conversions.findLast(({ from }) => from <= steady) ?? this.#latest;
    return Math.max(Math.round(steady + conversion.offset), conversion.floor);
  }

  /** Returns the moment of the monotonic clock for a wall time that was written earlier. */
  toSteady(wall: number): number {
    return wall - this.#latest.offset;
  }

  get #latest(): ClockConversion {
    const latest = this.#conversions.at(-1);
    if (!latest) throw new Error('the ledger clock has no conversion');
    return latest;
  }
}
