import type { Window } from '../contract.ts';
import { BEFORE_FIRST_CHAIN } from '../point-grid.ts';
import { getMember } from './answer.ts';

/**
 * Returns the query of a window of time. The service documents `startTimestamp` as "after" and `endTimestamp`
 * as "before", but recordings show that both are inclusive (upstream-services.md#paging). A request from one
 * second earlier is correct in both cases. Items outside of the window are recorded, but not claimed.
 */
export function timeWindowQuery(window: Window): { startTimestamp: number; endTimestamp: number } {
  return {
    startTimestamp: Math.max(Math.floor(window.from / 1000) - 1, 0),
    endTimestamp: Math.ceil(window.to / 1000),
  };
}

/**
 * Returns a function that reads the Unix seconds in `field` of an item as ms. The function returns null if
 * the seconds are missing, no integer, or before any chain. Such a time would prove that all later items were
 * read.
 */
export const unixSecondsReader =
  (field: string) =>
  (item: unknown): number | null => {
    const seconds = getMember(item, field);
    const isTime = typeof seconds === 'number' && Number.isSafeInteger(seconds);
    return isTime && seconds * 1000 >= BEFORE_FIRST_CHAIN ? seconds * 1000 : null;
  };
