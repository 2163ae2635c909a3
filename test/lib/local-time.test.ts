import { afterEach, expect, it, vi } from 'vitest';
import { parseInstant } from '../../src/lib/instant.ts';
import { formatLocalTime, formatTimeOfDay } from '../../src/lib/local-time.ts';

afterEach(() => vi.unstubAllEnvs());

it.each([
  ['UTC', '2026-11-22T03:52:55.250Z', '2026-11-22 03:52:55Z'],
  ['Europe/Berlin', '2026-11-22T23:52:55Z', '2026-11-23 00:52:55+01:00'],
  ['Europe/Berlin', '2026-07-01T00:00:00Z', '2026-07-01 02:00:00+02:00'],
  ['America/St_Johns', '2026-11-22T03:52:55Z', '2026-11-22 00:22:55-03:30'],
  ['Asia/Kathmandu', '2026-11-22T03:52:55Z', '2026-11-22 09:37:55+05:45'],
])('in %s, %s is %s, and is parsed as the same second', (zone, moment, text) => {
  vi.stubEnv('TZ', zone);
  const date = new Date(moment);
  expect(formatLocalTime(date)).toBe(text);
  expect(parseInstant(text)).toBe(Math.floor(date.getTime() / 1000) * 1000);
  expect(text).toContain(formatTimeOfDay(date));
});

it('keeps the given fraction of a second', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo');
  expect(formatLocalTime(new Date('2026-01-01T00:00:00Z'), '.000125')).toBe(
    '2026-01-01 09:00:00.000125+09:00',
  );
});
