import fc from 'fast-check';
import { describe, expect, it as pure } from 'vitest';
import { catalog } from '../../src/datasets/catalog.ts';
import type { Dataset, Target } from '../../src/datasets/contract.ts';
import { averageTps } from '../../src/datasets/metrics/average-tps.ts';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { buildDecoder } from '../../src/recording/decode.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const hour = 3_600_000;
const day = 24 * hour;
const now = Date.UTC(2026, 0, 10, 12, 20);
const seconds = (moment: number) => moment / 1000;

/** Returns why a point is refused; null: it is accepted. */
function refusal(dataset: Dataset, target: Target, moment: number, clock = now): string | null {
  const point = { timestamp: seconds(moment), value: 1 };
  return buildDecoder(dataset).items([point], { target, now: clock }).refused[0]?.reason ?? null;
}
const ofMetric = (timeInterval: string, moment: number, clock = now) =>
  refusal(metricPoints, { timeInterval }, moment, clock);

describe('a point', () => {
  pure.each([
    ['hour', now + 2 * hour, /in the future/],
    ['day', Date.UTC(2100, 0, 1), /in the future/],
    ['month', Date.UTC(2026, 1, 1), /in the future/],
    ['day', Date.UTC(1971, 0, 1), /1971-01-01T00:00:00.000Z is before the first EVM chain/],
    ['hour', Date.UTC(2026, 0, 9, 3, 30), /not the start of a hour/],
    ['day', Date.UTC(2026, 0, 9, 0, 15), /not the start of a day \(00:00 UTC\)/],
    ['week', Date.UTC(2026, 0, 6), /not the start of a week \(00:00 UTC of a Monday\)/],
    ['month', Date.UTC(2025, 11, 2), /not the start of a month/],
  ])('of %s %d is refused', (timeInterval, moment, reason) => {
    expect(ofMetric(timeInterval, moment)).toMatch(reason);
  });

  pure('has a grid in every series that is recorded', () => {
    const off = Date.UTC(2026, 0, 9, 0, 15);
    const series = catalog.filter(({ history }) => history === 'series');
    expect(series.map((one) => refusal(one, {}, off))).toEqual(
      series.map(() => expect.stringMatching(/not the start/)),
    );
    const atNoon = refusal(averageTps, { chainId: '43114' }, Date.UTC(2026, 0, 9, 12));
    expect(atNoon).toMatch(/not the start of a day/);
  });

  pure('at the start of any past or current bucket is accepted, and none between two starts is', () => {
    const starts = {
      hour: (back: number) => Math.floor(now / hour) * hour - back * hour,
      day: (back: number) => Math.floor(now / day) * day - back * day,
      week: (back: number) => Date.UTC(2026, 0, 5) - back * 7 * day,
      month: (back: number) => Date.UTC(2026, -back, 1),
    };
    const which = fc.constantFrom('hour', 'day', 'week', 'month');
    fc.assert(
      fc.property(which, fc.nat({ max: 70 }), fc.integer({ min: 1, max: 3599 }), (name, back, off) => {
        const start = starts[name](back);
        expect(ofMetric(name, start)).toBeNull();
        expect(ofMetric(name, start + off * 1000)).not.toBeNull();
      }),
    );
  });

  pure('may be early by what the clock here is late', () => {
    const next = Math.ceil(now / hour) * hour;
    const at = (clock: number) => ofMetric('hour', next, clock);
    expect([at(next - 5 * 60_000), at(next - 15 * 60_000)]).toEqual([null, expect.stringMatching(/future/)]);
  });
});

describe('a response with one invalid point', () => {
  const good = [1, 2, 3].map((back) => ({
    timestamp: seconds(Math.floor(now / day) * day - back * day),
    value: 10 + back,
  }));
  const bad = [Date.UTC(2100, 0, 1), Date.UTC(2026, 0, 9, 0, 15), Date.UTC(1971, 0, 1)];

  it.each(bad)(
    'has the point in the quarantine, and never as the newest value of a metric: %d',
    async (moment) => {
      const { range } = metricPoints.source;
      if (!range) throw new Error('metrics have no range');
      const target = { chainId: `c${moment}`, metric: 'txCount', timeInterval: 'day' };
      const feed = scriptedFeed(metricPoints, target, { range });
      let results = [...good, { timestamp: seconds(moment), value: 999 }].sort(
        (a, b) => b.timestamp - a.timestamp,
      );
      const clock = new ManualClock(now);
      const context = recordingContext(sql, clock.read, {
        get: async () => ({ results }),
      });
      feed.script = (window, client) => metricPoints.source.walk(client, target, window);
      await run(context, feed, { from: now - 2 * day, to: now });
      results = good;
      await run(context, feed, { from: now - 2 * day, to: now });
      const points = await sql<{ value: number }[]>`
      select value::int from reporting.metric_points where chain_id = ${target.chainId} order by bucket_start desc`;
      expect(points.map(({ value }) => value)).toEqual(good.map(({ value }) => value));
      const set = await sql<{ reason: string }[]>`
      select reason from reporting.quarantine where dataset = 'metric_points' and reason like ${`%${new Date(moment).toISOString()}%`}`;
      expect(set).toHaveLength(1);
    },
  );

  pure('of which the oldest is before any chain proves nothing that it does not show', async () => {
    const window = { from: now - 2 * day, to: now, reach: Date.UTC(2020, 0, 1) };
    const unused = () => Promise.reject(new Error('not requested'));
    const results = [...good, { timestamp: seconds(Date.UTC(1971, 0, 1)), value: 1 }];
    const client = {
      ...{ post: unused, rpc: unused, probe: unused, now, pageSize: (max: number) => max },
      get: async (_path: string, query = {}) =>
        'pageToken' in query ? { results: [] } : { results, nextPageToken: 'next' },
    };
    const proven = [];
    for await (const page of metricPoints.source.walk(client, { timeInterval: 'day' }, window))
      if (!page.last) proven.push(page.proven);
    expect(proven).toEqual([null, null]);
  });
});
