import { OPEN_END, type Range, type Target, type Window } from '../datasets/contract.ts';
import type { ConfiguredFeed } from './active-feed.ts';
import type { TargetState } from './plan.ts';
import { rangeStart } from './range-start.ts';
import { targetKey } from './target-key.ts';
import { intersectWindows, splitWindow, subtractWindows } from './windows.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/**
 * Maximum age of windows that are requested again daily, in ms. On the axis of heights, unclaimed windows are
 * requested daily instead.
 */
export const RECENT_MS = 14 * DAY;
/** Interval at which older windows are requested again, in ms. */
export const SWEEP_INTERVAL_MS = 30 * DAY;
/** Retry interval of windows whose last sweep failed, in ms. */
const RETRY_INTERVAL_MS = HOUR;

/**
 * Returns answered windows of an index that are due to be requested again, because an index may return items
 * late, and may revise items. Recent windows are due once a day, older windows once in 30 days, and failed
 * windows once an hour. The selection depends only on the time, the last poll and the failures, so that it
 * works with any poll interval. Windows that each poll reads anyway are excluded.
 */
export function listSweepWindows(
  feed: ConfiguredFeed,
  target: Target,
  state: TargetState,
  now: number,
): Window[] {
  const { range } = feed.source;
  const { lastPolled, answered } = state;
  if (!range?.index || lastPolled === null) return [];
  const offset = hash(targetKey(target));
  const turns = (every: number) => slotsBetween(lastPolled, now, every, offset);
  const start = rangeStart(range, state, now);
  const shownFrom = state.shownFrom ?? Number.POSITIVE_INFINITY;
  const recent = { from: recentStart(range, state, start, now), to: range.axis === 'time' ? now : OPEN_END };
  const old = { from: start, to: Math.min(recent.from, shownFrom, answered.at(-1)?.to ?? start) };
  const older = olderWindows(old, range.span(target), turns(feed.every), feed.every, offset);
  const due = [
    ...(turns(DAY).count > 0 && recent.from < shownFrom ? [recent] : []),
    ...older.filter((window) => subtractWindows(window, answered).length === 0),
  ];
  if (turns(RETRY_INTERVAL_MS).count === 0) return due;
  const failed = intersectWindows(state.failedSweeps, [{ from: start, to: OPEN_END }]);
  const retried = failed.flatMap((window) => subtractWindows(window, due));
  return [...due, ...retried.reverse().flatMap((window) => splitWindow(window, range.span(target)))];
}

/** Returns the start of the daily window: the last 14 days, and windows that are answered but not claimed. */
function recentStart(range: Range, state: TargetState, start: number, now: number): number {
  const { covered, answered } = state;
  const unclaimed = answered.flatMap((window) => subtractWindows(window, covered))[0]?.from;
  const claimedTo = covered.at(-1)?.to ?? start;
  return Math.max(
    start,
    Math.min(unclaimed ?? claimedTo, range.axis === 'time' ? now - RECENT_MS : claimedTo),
  );
}

/** Returns the pieces of the older part that are due. Each piece is due once in 30 days. */
function olderWindows(
  old: Window,
  span: number,
  { first, count }: SweepSlots,
  every: number,
  offset: number,
): Window[] {
  const turns = Math.max(1, Math.floor(SWEEP_INTERVAL_MS / every));
  if (old.from >= old.to || count === 0) return [];
  return splitWindow(old, span).filter(
    (_, at) => mod(at + Math.floor(offset * turns) - first, turns) < count,
  );
}

/** Slots of equal length that started in a period, numbered since 1970. */
interface SweepSlots {
  readonly first: number;
  readonly count: number;
}

/**
 * Returns the slots that started after `after` and not after `until`.
 * @param offset fraction of a slot by which all slots start earlier
 */
function slotsBetween(after: number, until: number, every: number, offset: number): SweepSlots {
  const turnOf = (moment: number) => Math.floor(moment / every + offset);
  return { first: turnOf(after) + 1, count: Math.max(0, turnOf(until) - turnOf(after)) };
}

const mod = (value: number, by: number) => ((value % by) + by) % by;

/** Returns a hash of a text in [0, 1), so that targets are due at different times (FNV-1a). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0) / 2 ** 32;
}
