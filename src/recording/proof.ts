import type { Feed } from '../datasets/contract.ts';
import { OPEN_END, type Range, type Source, type Window } from '../datasets/contract.ts';
import type { Job } from './job.ts';

/**
 * Returns whether rows of a dataset can be retired if a response does not contain them. This applies to
 * members of lists and to points, not to logs and readings.
 */
export function canRetire({ datasets }: Feed, at: number): boolean {
  const history = datasets[at]?.history;
  return history === 'state' || history === 'series';
}

/**
 * Returns the part of a proven window that may be claimed as covered: the part that is old enough and not
 * beyond the progress of the index.
 * @param startedAt time before the first request of the walk, in ms since 1970
 * @param shownUntil time up to which the index has returned items; on the axis of heights the exclusive end
 * of the claimable part
 */
export function claimablePart(
  proven: Window | null,
  { axis, settle }: Range,
  startedAt: number,
  shownUntil = Number.POSITIVE_INFINITY,
): Window | null {
  if (!proven) return null;
  const to = Math.min(proven.to, shownUntil, axis === 'time' ? startedAt - settle : Number.POSITIVE_INFINITY);
  return proven.from < to ? { from: proven.from, to } : null;
}

/**
 * Returns whether a run updates the freshness of its target. The run must be an observation, or a request of
 * the newest part of the range, and not a sweep.
 * @param startedAt time before the first request of the walk, in ms since 1970
 */
export function updatesFreshness(
  { range }: Source,
  { target, window, reason }: Job,
  startedAt: number,
): boolean {
  if (reason === 'sweep') return false;
  if (!range || !window) return true;
  return window.to > (range.axis === 'time' ? startedAt : OPEN_END) - range.head(target) - 1;
}
