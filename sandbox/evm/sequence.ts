import { mix, unit } from '../random.ts';

/** The number of the first item of 0..count-1 that is not `before`; the items must be in order. */
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
 * Numbered events in time, each computed independently: event k is within the k-th interval after the start. One pair
 * in sixteen has the same moment. Times are whole Unix seconds that never decrease.
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

  /** Number of events at or before a time (Unix seconds). */
  countUntil(sec: number): number {
    const most = Math.max(0, Math.ceil((sec - this.#startSec) / this.#intervalSec) + 2);
    return lowerBound(most, (k) => this.time(k) <= sec);
  }
}
