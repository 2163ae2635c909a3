import { between } from '../random.ts';

/** A span of simulated time in Unix seconds, inclusive start, exclusive end. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

export const DAY = 86_400;

/** Length of the generated membership after the genesis, in seconds. */
export const HORIZON = 3_650 * DAY;

/**
 * Rhythm of a seat's periods. `days` and `gapDays` are inclusive bounds in days; `firstStart` is in Unix
 * seconds.
 */
export interface Rhythm {
  readonly firstStart: number;
  readonly days: readonly [number, number];
  readonly gapDays: readonly [number, number];
}

/** Returns the periods of a seat in the ten years after `rhythm.firstStart`. */
export function periods(seed: number, seat: number, rhythm: Rhythm): Period[] {
  const list: Period[] = [];
  let start = rhythm.firstStart;
  while (start < rhythm.firstStart + HORIZON) {
    const number = list.length;
    const length = between(seed, rhythm.days[0] * DAY, rhythm.days[1] * DAY, seat, number, 1);
    const gap = between(seed, rhythm.gapDays[0] * DAY, rhythm.gapDays[1] * DAY, seat, number, 2);
    list.push({ start, end: start + length });
    start += length + gap;
  }
  return list;
}

/** Returns whether a moment (Unix seconds) is within a period. */
export function holds(period: Period, sec: number): boolean {
  return period.start <= sec && sec < period.end;
}
