import { dateText } from '../lib/calendar.ts';

const DAY = 86_400_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/**
 * Last formatted day, in days since 1970. Items of a list are ordered by time, so that most items have the
 * day of the previous item.
 */
let lastDay = Number.NaN;
/** Date of {@link lastDay}, such as `2026-01-31T`. */
let lastDate = '';

/**
 * Returns the same text as `Date.prototype.toISOString`, at a tenth of its cost. With that method,
 * formatting two timestamps per item was almost half of the decoding time.
 * @param instant integer ms since 1970, from 1970 to the year 9999
 */
export function isoText(instant: number): string {
  const day = Math.floor(instant / DAY);
  if (day !== lastDay) {
    lastDay = day;
    lastDate = `${dateText(day)}T`;
  }
  const ofDay = instant - day * DAY;
  const hour = TWO_DIGITS[Math.floor(ofDay / 3_600_000)];
  const minute = TWO_DIGITS[Math.floor(ofDay / 60_000) % 60];
  const second = TWO_DIGITS[Math.floor(ofDay / 1000) % 60];
  const millisecond = ofDay % 1000;
  const fraction = millisecond === 0 ? '000' : String(millisecond).padStart(3, '0');
  return `${lastDate}${hour}:${minute}:${second}.${fraction}Z`;
}
