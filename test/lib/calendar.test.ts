import { expect, it } from 'vitest';
import { dateText, dayNumber } from '../../src/lib/calendar.ts';

const DAY = 86_400_000;
const LAST = Date.UTC(9999, 11, 31) / DAY;
const FIRST = -719_162; // of the year 1

it('equals the days of Date, from the year 1 to the year 9999', () => {
  for (let days = FIRST; days <= LAST; days += days < 100_000 ? 1 : 31) {
    const date = new Date(days * DAY);
    if (dateText(days) !== date.toISOString().slice(0, 10)) expect(dateText(days)).toBe(date.toISOString());
    const again = dayNumber(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
    if (again !== days) expect(again, date.toISOString()).toBe(days);
  }
  expect([dateText(FIRST), dateText(LAST)]).toEqual(['0001-01-01', '9999-12-31']);
});
