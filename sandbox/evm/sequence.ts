import { mix, unit } from '../random.ts';

/**
 * Returns the first number from 0 (inclusive) to `count` (exclusive) for which `before` is false, or `count`.
 * The numbers for which `before` is true must come first.
 */
export function lowerBound(count: number, before: (i: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Numbered events in time, each computed independently. Event k is within the k-th interval after the start.
 * In one of sixteen pairs, both events have the same time. Times are whole Unix seconds that never decrease.
 */
export class Sequence {
  readonly #seed: number;
  readonly #startSec: number;
  readonly #intervalSec: number;

  constructor(seed: number, startSec: number, intervalSec: number) {
    this.#seed = seed;
    this.#startSec = startSec;
    this.#intervalSec = intervalSec;
  }

  time(k: number): number {
    const pair = Math.floor(k / 2);
    const tied = mix(this.#seed, pair, 1) % 16 === 0;
    const position = tied ? 2 * pair + 1 : k + unit(this.#seed, k, 2);
    return this.#startSec + Math.floor(position * this.#intervalSec);
  }

  /** Returns the number of events at or before a time (Unix seconds). */
  countUntil(sec: number): number {
    const limit = Math.max(0, Math.ceil((sec - this.#startSec) / this.#intervalSec) + 2);
    return lowerBound(limit, (k) => this.time(k) <= sec);
  }
}
