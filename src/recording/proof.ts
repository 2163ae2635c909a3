import type { Feed } from '../datasets/contract.ts';
import { OPEN_END, type Range, type Source, type Window } from '../datasets/contract.ts';
import type { Job } from './job.ts';

/** Whether rows can be missing from an answer: members of lists and points can, logs and readings cannot. */
export function retires({ datasets }: Feed, at: number): boolean {
  const history = datasets[at]?.history;
  return history === 'state' || history === 'series';
}

/**
 * The part of a proven window that may be claimed as covered: what is old enough, and not beyond what the index has shown.
 * @param startedAt before the first request of the walk, ms since 1970
 * @param shownUntil the moment up to which the index has shown items; on the axis of heights the end of what may be claimed
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

/** Whether a run is about now: an observation, or a poll of a window that reaches the newest part of the range. */
export function aboutNow({ range }: Source, { target, window, reason }: Job, now: number): boolean {
  if (reason === 'sweep') return false;
  if (!range || !window) return true;
  return window.to > (range.axis === 'time' ? now : OPEN_END) - range.head(target) - 1;
}
