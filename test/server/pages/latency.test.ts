import { beforeAll, describe, expect } from 'vitest';
import { findBucket, type Histogram, RELATIVE_ERROR } from '../../../src/health/latency-histogram.ts';
import { type LatencyHour, storeHours } from '../../../src/health/latency-store.ts';
import { withPages } from '../../support/fixture.ts';
import { textOf } from './html.ts';
import { day, hour, write } from './node-states.ts';

const now = Date.UTC(2026, 4, 17, 9, 41);
const recordStart = Math.floor((now - 100 * day) / hour) * hour;
const PROBES_PER_HOUR = 6;

const { it, sql, sendRequest } = withPages({
  clock: () => now,
  site: { title: 'Nodes', text: [], logo: null, nodes: ['one'], announced: { once: [], recurring: [] } },
});
/** The start of each probe, and its duration, in ms. */
const probes: { readonly at: number; readonly time: number }[] = [];

beforeAll(async () => {
  await write(sql, [{ observer: 'paris', node: 'one', states: [[recordStart, 'up']], absences: [] }], now);
  let random = 7;
  for (let at = recordStart; at < now; at += day) {
    const hours: LatencyHour[] = [];
    for (let start = at; start < Math.min(at + day, now); start += hour) {
      const histogram: [number, number][] = [];
      for (let number = 0; number < PROBES_PER_HOUR; number++) {
        random = (random * 48_271) % 2_147_483_647;
        // It grows from day to day, so that another range has other quantiles.
        const time = 5 + (start - recordStart) / day + (random % 97) + (random % 50 === 0 ? 2_000 : 0);
        probes.push({ at: start, time });
        histogram.push([findBucket(time), 1]);
      }
      const counted: Histogram = histogram.reduce(
        (sum, [bucket]) => sum.set(bucket, (sum.get(bucket) ?? 0) + 1),
        new Map<number, number>(),
      );
      hours.push({ node: 'one', probe: 'health', hour: start, histogram: counted });
    }
    await storeHours(sql, 'paris', hours, now);
  }
});
/** Returns the numbers after a word of a page. */
const numbersIn = (text: string) => (text.match(/\d+(\.\d+)?/g) ?? []).map(Number).slice(0, 3);

/** Expects that three numbers are the quantiles of all probes in a range, within the error of storing and rounding. */
function expectQuantiles(reported: readonly number[], from: number, to: number): void {
  const times = probes
    .filter(({ at }) => at >= from && at < to)
    .map(({ time }) => time)
    .sort((a, b) => a - b);
  expect(times.length).toBeGreaterThan(0);
  for (const [place, share] of [0.5, 0.95, 0.99].entries()) {
    const exact = times[Math.ceil(times.length * share) - 1] ?? 0;
    const error = Math.abs((reported[place] ?? 0) - exact) / exact;
    expect(error, `${share}: ${reported[place]} for ${exact}`).toBeLessThanOrEqual(RELATIVE_ERROR + 0.01);
  }
}

const midnight = (at: number) => Math.floor(at / day) * day;

describe('response times', () => {
  it.each([
    // Hours are kept for three weeks, and days forever.
    ['24 h', Math.floor((now - day) / hour) * hour],
    ['7 days', Math.floor((now - 7 * day) / hour) * hour],
    ['30 days', midnight(now - 30 * day)],
    ['90 days', midnight(now - 90 * day)],
  ])('of the last %s are shown beside the uptime', async (name, from) => {
    const { body } = await sendRequest('/status');
    const [, fact = ''] = body.split(`<dt>Uptime, ${name}</dt>`);
    const [, note = ''] = textOf(fact).split('response ');
    expectQuantiles(numbersIn(note.replaceAll(/p\d\d/g, '')), from, now);
  });

  it.each([
    [
      'hours that lie near',
      30 * hour + 41 * 60_000,
      4 * hour + 41 * 60_000,
      '2026-05-16 03:00 to 2026-05-17 05:00',
      hour,
    ],
    ['cut hours', 28 * hour, 26 * hour, '2026-05-16 05:00 to 08:00', hour],
    ['old days', 60 * day, 50 * day + 3 * hour, '2026-03-18 to 2026-03-29', day],
    ['less than an old day', 50 * day, 50 * day - 2 * hour, '2026-03-28', day],
  ])('of %s cover exactly that range, or name theirs', async (_, before, until, label, unit) => {
    const [from, to] = [now - before, now - until];
    const text = (at: number) => new Date(at).toISOString().slice(0, 16);
    const { code, body } = await sendRequest(`/status/one?from=${text(from)}&to=${text(to)}`);
    expect(code).toBe(200);
    const [, fact = ''] = body.split('<dt>Response p50 / p95 / p99</dt>');
    const [value = ''] = fact.split('</dd>');
    const [numbers = '', over] = value.split('<small');
    const [low, high] = [Math.floor(from / unit) * unit, Math.ceil(to / unit) * unit];
    expectQuantiles(numbersIn(textOf(numbers)), low, high);
    if (low === from && high === to) expect(over).toBeUndefined();
    else expect(textOf(`<small${over}`)).toBe(label);
  });
});
