import { mix, unit } from '../random.ts';
import { HOUR } from './calendar.ts';

/** Interval of the recounts by the service, in simulated seconds. */
const REFRESH_SEC = 900;

/** Age from which an hour never changes again, in seconds. */
export const SETTLED_AFTER = 6 * 24 * HOUR;

/** Returns the last refresh at or before a time. */
export function lastRefresh(sec: number): number {
  return Math.floor(sec / REFRESH_SEC) * REFRESH_SEC;
}

/**
 * Returns the counted share of an hour's final count, when the hour is `age` seconds old. The share grows to
 * 97 % during the hour, and to 100 % within two more hours. One hour of each day is complete only 20 to 30
 * hours later, so that days settle about a day late. Of a thousand hours, three are revised up to five days
 * later. Three others are counted a tenth too high for three hours.
 */
export function share(seed: number, hour: number, age: number): number {
  if (age < HOUR) return (0.97 * age) / HOUR;
  const early = 0.97 + (0.03 * Math.min(age - HOUR, 2 * HOUR)) / (2 * HOUR);
  const day = Math.floor(hour / (24 * HOUR));
  const straggler = mix(seed, day, 1) % 24 === (hour / HOUR) % 24;
  if (straggler && age < (20 + unit(seed, hour, 2) * 10) * HOUR) return early * 0.98;
  const rare = unit(seed, hour, 3);
  if (rare < 0.003 && age < (36 + unit(seed, hour, 4) * 84) * HOUR) return early * 0.95;
  const flap = rare > 0.997 && age >= 6 * HOUR && age < 9 * HOUR;
  return flap ? early * 1.1 : early;
}

/**
 * Returns whether the point of a window is currently missing from the responses. A few points in a thousand
 * vanish for some hours and reappear. A point of an hour vanishes when it is three hours old, a point of a
 * day when it is 30 hours old.
 */
export function isVanished(
  seed: number,
  metric: number,
  interval: 'hour' | 'day',
  start: number,
  end: number,
  refresh: number,
): boolean {
  if (unit(seed, metric, start, interval === 'hour' ? 11 : 12) >= 0.004) return false;
  const past = refresh - end;
  return interval === 'hour' ? past >= 3 * HOUR && past < 5 * HOUR : past >= 30 * HOUR && past < 36 * HOUR;
}
