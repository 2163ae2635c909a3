/** The intervals of the metrics service. All times are in Unix seconds, UTC. */
export type Interval = 'hour' | 'day' | 'week' | 'month';

export const INTERVALS: readonly Interval[] = ['hour', 'day', 'week', 'month'];

export const HOUR = 3_600;
export const DAY = 86_400;
const WEEK = 7 * DAY;
/** Start of 1970-01-05, the first Monday of Unix time. */
const MONDAY = 4 * DAY;

function month(sec: number, ahead: number): number {
  const date = new Date(sec * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1) / 1000;
}

/**
 * Returns the start of the window that contains a time: of the hour, the UTC day, the week (Monday) or the
 * month.
 */
export function windowStart(interval: Interval, sec: number): number {
  if (interval === 'hour') return Math.floor(sec / HOUR) * HOUR;
  if (interval === 'day') return Math.floor(sec / DAY) * DAY;
  if (interval === 'week') return Math.floor((sec - MONDAY) / WEEK) * WEEK + MONDAY;
  return month(sec, 0);
}

/** Returns the start of the window after the window that starts at `start`. */
export function nextWindow(interval: Interval, start: number): number {
  if (interval === 'hour') return start + HOUR;
  if (interval === 'day') return start + DAY;
  return interval === 'week' ? start + WEEK : month(start, 1);
}

/** Returns the start of the window before the window that starts at `start`. */
export function previousWindow(interval: Interval, start: number): number {
  return windowStart(interval, start - 1);
}
