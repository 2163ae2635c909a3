import { OPEN_END, type Range } from '../datasets/contract.ts';
import type { TargetState } from './plan.ts';

/** Returns the default start of a range of time, in ms since 1970. */
export const firstStart = ({ lookback }: Range, now: number): number =>
  lookback instanceof Date ? lookback.getTime() : now - lookback;

/**
 * Returns the start of the recorded range of a target, on the axis of the source. This is the expected start
 * or the start of the retained data, whichever is later.
 */
export const rangeStart = (range: Range, state: TargetState, now: number): number =>
  keptFrom(range, state, expectedFrom(range, state, now));

/** Returns the expected start of the recording of a target, on the axis of the source. */
export function expectedFrom(range: Range, state: TargetState, now: number): number {
  if (range.axis === 'time') return state.expectedFrom ?? firstStart(range, now);
  if (range.lookback === Number.POSITIVE_INFINITY) return 0;
  // The first poll requests the newest entries; older ones are filled in afterwards.
  if (state.answered.length === 0) return OPEN_END;
  return Math.min(state.expectedFrom ?? OPEN_END, ...state.answered.map(({ from }) => from));
}

/**
 * Returns the later of a start and the start of the retained data. On the axis of heights, returns the start
 * unchanged, because data that was removed by height still counts as recorded.
 */
export const keptFrom = ({ axis }: Range, { keptSince }: TargetState, from: number): number =>
  axis === 'time' && keptSince !== null ? Math.max(from, keptSince) : from;
