import type { Clock } from '../lib/clock.ts';

/** Clocks that differ by less than this, in ms, agree. */
const AGREE_WITHIN = 1_000;
/** A clock that was moved is believed when it has kept the move for so long, in ms. */
const BELIEVED_AFTER = 45_000;

/** From a moment of the steady clock on: how the wall time follows from it, and the least wall time that is allowed. */
interface Reckoning {
  readonly from: number;
  readonly offset: number;
  readonly floor: number;
}

/** The wall clock was moved for good; a move forward skipped the time between. Wall times, ms since 1970. */
export interface Moved {
  readonly by: number;
  readonly skipped: { readonly from: number; readonly to: number } | null;
}

/**
 * The time of the ledger. Looks are timed by a steady clock, which cannot be set and which counts sleep. They get wall
 * times when they are written. While the wall clock contradicts the steady one, nothing can be written. If the wall clock
 * is moved back to where it was, the move leaves no trace; if it stays moved, the move is believed. When a clock is set
 * back, the ledger does not go back: it is stalled until the clock has passed what is already written.
 */
export class LedgerClock {
  readonly #wall: Clock;
  readonly #steady: Clock;
  readonly #reckonings: Reckoning[];
  #agreedAt: number;
  #doubt: { readonly since: number; readonly offset: number } | null = null;

  /** @param floor the newest wall time that the ledger holds already, ms since 1970 */
  constructor(wall: Clock, steady: Clock, floor = 0) {
    this.#wall = wall;
    this.#steady = steady;
    this.#agreedAt = steady();
    this.#reckonings = [{ from: Number.NEGATIVE_INFINITY, offset: wall() - this.#agreedAt, floor }];
  }

  /** Now, by the steady clock, in ms. */
  now(): number {
    return this.#steady();
  }

  /** How far the wall clock is ahead of the ledger now, ms; 0: they agree. */
  get disagreement(): number {
    const ahead = this.#wall() - this.#steady() - this.#latest.offset;
    return Math.abs(ahead) < AGREE_WITHIN ? 0 : ahead;
  }

  /** Whether nothing can be written because the clocks contradict each other. */
  get doubtful(): boolean {
    return this.#doubt !== null;
  }

  /** Compares the clocks: to be called often. @returns the move of the wall clock that is believed from now on */
  compare(): Moved | null {
    const now = this.#steady();
    const offset = this.#wall() - now;
    const by = offset - this.#latest.offset;
    if (Math.abs(by) < AGREE_WITHIN) {
      this.#doubt = null;
      this.#agreedAt = now;
      return null;
    }
    if (!this.#doubt || Math.abs(offset - this.#doubt.offset) >= AGREE_WITHIN)
      this.#doubt = { since: now, offset };
    if (now - this.#doubt.since < BELIEVED_AFTER) return null;
    const from = this.toWall(this.#agreedAt);
    // All are kept: moments of before wait while the database is away, and a clock is seldom moved.
    this.#reckonings.push({ from: this.#agreedAt + 1, offset, floor: from });
    this.#doubt = null;
    this.#agreedAt = now;
    return { by, skipped: by > 0 ? { from, to: from + by } : null };
  }

  /** The wall time of a moment of the steady clock. */
  toWall(steady: number): number {
    const reckoning = this.#reckonings.findLast(({ from }) => from <= steady) ?? this.#latest;
    return Math.max(Math.round(steady + reckoning.offset), reckoning.floor);
  }

  /** The moment of the steady clock at a wall time that was written earlier. */
  toSteady(wall: number): number {
    return wall - this.#latest.offset;
  }

  get #latest(): Reckoning {
    const latest = this.#reckonings.at(-1);
    if (!latest) throw new Error('a ledger clock always has a reckoning');
    return latest;
  }
}
