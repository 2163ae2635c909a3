import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowanceIn, retryAfter } from '../../src/upstreams/rate-limit-headers.ts';

/** The default time of the clocks of both sides, ms. */
const NOW = Date.UTC(2026, 10, 26, 12);
const HOUR_S = 3_600;

const response = (headers: Record<string, string>) => ({
  status: 429,
  headers,
  text: '',
  bytes: Buffer.alloc(0),
});

/** Returns every spelling of the moment `seconds` after `now`. */
const spellings = (seconds: number, now = NOW): Readonly<Record<string, string>> => ({
  'a number of seconds': String(seconds),
  'a Unix time': String(now / 1000 + seconds),
  'a Unix time in milliseconds': String(now + seconds * 1000),
  'a span of seconds': `${seconds}s`,
  'a span with minutes': `${Math.floor(seconds / 60)}m${seconds % 60}s`,
  'a span of milliseconds': `${seconds * 1000}ms`,
  'a date': new Date(now + seconds * 1000).toUTCString(),
  'an ISO time': new Date(now + seconds * 1000).toISOString(),
});

describe.each(['retry-after', 'ratelimit-reset'])('%s', (name) => {
  const pause = (value: string, more: Record<string, string> = {}) => {
    const answer = response({ [name]: value, 'ratelimit-remaining': '0', ...more });
    return name === 'retry-after' ? retryAfter(answer, NOW) : allowanceIn(answer, NOW)?.exhausted;
  };

  it('is the same pause in every spelling, and is kept as sent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: HOUR_S }), (seconds) => {
        for (const text of Object.values(spellings(seconds)))
          expect(pause(text)).toEqual({ milliseconds: seconds * 1000, header: `${name}: ${text}` });
      }),
    );
  });

  it('is at most an hour in every spelling', () => {
    fc.assert(
      fc.property(fc.integer({ min: HOUR_S, max: 900_000_000 }), (seconds) => {
        for (const text of Object.values(spellings(seconds)))
          expect(pause(text)?.milliseconds).toBe(HOUR_S * 1000);
      }),
    );
  });

  it('is compared with the clock of the upstream if the response has one', () => {
    const ahead = NOW + 50 * 60_000;
    const { 'a Unix time': unix = '', 'a date': date = '' } = spellings(30, ahead);
    for (const text of [unix, date])
      expect(pause(text, { date: new Date(ahead).toUTCString() })?.milliseconds).toBe(30_000);
  });

  it.each(['1764158399', 'Wed, 21 Oct 2015 07:28:00 GMT', '2015-10-21T07:28:00Z', '0', '0s'])(
    'in the past requests no pause: %s',
    (text) => {
      expect(pause(text)?.milliseconds ?? 0).toBe(0);
    },
  );

  it.each(['', ' ', 'soon', '-5', '1e9', '0x10', 'NaN', '12 parsecs', 'in 5 minutes', 's', '5m5m'])(
    'that is no time requests no pause: %j',
    (text) => {
      expect(pause(text) ?? undefined).toBeUndefined();
    },
  );

  it('is truncated to a readable length', () => {
    expect(pause(`0${'0'.repeat(5_000)}9`)).toEqual({ milliseconds: 9_000, header: expect.any(String) });
    expect(pause(`0${'0'.repeat(5_000)}9`)?.header.length).toBeLessThan(100);
  });
});

it('ratelimit-reset counts only if nothing is left', () => {
  expect(allowanceIn(response({ 'ratelimit-reset': '60', 'ratelimit-remaining': '1' }), NOW)).toBeNull();
  expect(allowanceIn(response({ 'ratelimit-reset': '60' }), NOW)).toBeNull();
});
