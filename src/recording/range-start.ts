import { OPEN_END, type Range } from '../datasets/contract.ts';
import type { TargetState } from './plan.ts';

/** Where the first recording of a range of time starts, in ms since 1970. */
export const firstStart = ({ lookback }: Range, now: number): number =>
  lookback instanceof Date ? lookback.getTime() : now - lookback;

/** Where the record of a target starts: where it is expected to, or where what is kept starts. On the source's axis. */
export const rangeStart = (range: Range, state: TargetState, now: number): number =>
  keptFrom(range, state, expectedFrom(range, state, now));

/** Where the recording of a target is expected to start, on the source's axis. */
export function expectedFrom(range: Range, state: TargetState, now: number): number {
  if (range.axis === 'time') return state.expectedFrom ?? firstStart(range, now);
  return range.lookback === Number.POSITIVE_INFINITY
    ? 0
    : Math.min(...state.answered.map(({ from }) => from), OPEN_END);
}

/** The start of a window, not before that of what is kept. What was removed by height still counts as recorded. */
export const keptFrom = ({ axis }: Range, { keptSince }: TargetState, from: number): number =>
  axis === 'time' && keptSince !== null ? Math.max(from, keptSince) : from;
