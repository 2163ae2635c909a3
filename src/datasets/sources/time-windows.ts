import type { Window } from '../contract.ts';
import { memberOf } from './answer.ts';

/**
 * The query of a window of time. The seeds say `startTimestamp` is "after" and `endTimestamp` "before", the recordings
 * show both inclusive (reality.md 0, row 8): asking from one second earlier is right under both readings, and what
 * lies outside the window is recorded without being claimed.
 */
export function timestampsWithin(window: Window): { startTimestamp: number; endTimestamp: number } {
  return {
    startTimestamp: Math.max(Math.floor(window.from / 1000) - 1, 0),
    endTimestamp: Math.ceil(window.to / 1000),
  };
}

/** Reads an item's Unix seconds in `field` as milliseconds; null where they are missing or no number. */
export const secondsAt =
  (field: string) =>
  (item: unknown): number | null => {
    const seconds = memberOf(item, field);
    return typeof seconds === 'number' && Number.isSafeInteger(seconds) ? seconds * 1000 : null;
  };
