import fc from 'fast-check';
import { beforeAll, describe, expect } from 'vitest';
import { decodeSlots, encodeSlots } from '../../src/health/latency-entries.ts';
import {
  findBucket,
  type Histogram,
  mergeHistograms,
  RELATIVE_ERROR,
  representativeMs,
} from '../../src/health/latency-histogram.ts';
import { type LatencyHour, storeHours } from '../../src/health/latency-store.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, sql } = withDatabase();
const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 28);

function histogramOf(times: readonly number[]): Histogram {
  const histogram = new Map<number, number>();
  for (const time of times) histogram.set(findBucket(time), (histogram.get(findBucket(time)) ?? 0) + 1);
  return histogram;
}

/** Returns the quantile: the smallest time that this share of all does not exceed. */
const exact = (times: readonly number[], share: number) =>
  [...times].sort((one, other) => one - other)[Math.ceil(times.length * share) - 1] ?? 0;

describe('a histogram', () => {
  it('assigns every time from a tenth of a millisecond to a day to a bucket within its error', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.1, max: 86_400_000, noNaN: true }), (time) => {
        expect(Math.abs(representativeMs(findBucket(time)) - time) / time).toBeLessThanOrEqual(
          RELATIVE_ERROR + 1e-9,
        );
      }),
    );
    expect([findBucket(0), findBucket(Number.MAX_VALUE)]).toEqual([0, 255]);
  });

  it('merges to the histogram of all values', () => {
    const times = fc.array(fc.double({ min: 0.1, max: 60_000, noNaN: true }));
    fc.assert(
      fc.property(times, times, (one, other) => {
        const sorted = (histogram: Histogram) => [...histogram].sort(([a], [b]) => a - b);
        expect(sorted(mergeHistograms([histogramOf(one), histogramOf(other)]))).toEqual(
          sorted(histogramOf([...one, ...other])),
        );
      }),
    );
  });

  it('is decoded from its bytes', () => {
    const slots = fc.dictionary(
      fc.integer({ min: 0, max: 167 }).map(String),
      fc.dictionary(fc.integer({ min: 0, max: 255 }).map(String), fc.integer({ min: 1, max: 65_535 }), {
        minKeys: 1,
      }),
    );
    const sorted = (map: Iterable<[number, Histogram]>) =>
      [...map]
        .map(([slot, histogram]) => [slot, [...histogram].sort(([a], [b]) => a - b)] as const)
        .sort(([a], [b]) => a - b);
    fc.assert(
      fc.property(slots, (dictionary) => {
        const slotEntries = Object.entries(dictionary).map(([slot, counts]): [number, Histogram] => [
          Number(slot),
          new Map(Object.entries(counts).map(([bucket, count]) => [Number(bucket), count])),
        ]);
        expect(sorted(decodeSlots(encodeSlots(new Map(slotEntries))))).toEqual(sorted(slotEntries));
      }),
    );
  });
});

describe('node_latency', () => {
  const times = new Map<number, number[]>();

  beforeAll(async () => {
    await sql`insert into recorder.health_observers (observer) values ('o')`;
    for (let at = start; at < start + 8 * day; at += hour) {
      const seconds = (at - start) / hour;
      times.set(
        at,
        Array.from({ length: 60 }, (_, n) => 5 + seconds / 10 + ((n * 7919) % 97) + (n === 3 ? 900 : 0)),
      );
      const hours: LatencyHour[] = [
        { node: 'a', probe: 'health', hour: at, histogram: histogramOf(times.get(at) ?? []) },
      ];
      await storeHours(sql, 'o', hours, at + hour);
      await storeHours(sql, 'o', hours, at + hour); // once more changes nothing
    }
  });

  it('returns quantiles of any hours within its error', async () => {
    const windows = [
      [0, 192],
      [24, 48],
      [3, 20],
      [20, 100],
      [23, 25],
      [70, 191],
      [95, 96],
    ].map(([from = 0, to = 0]) => [start + from * hour, start + to * hour] as const);
    for (const [from, to] of windows) {
      const [row] = await sql<{ probes: number; p50: number; p95: number; p99: number }[]>`
        select probes::int, p50::float8, p95::float8, p99::float8 from reporting.node_latency(${new Date(from)}, ${new Date(to)})`;
      const expectedTimes = [...times]
        .filter(([at]) => at >= from && at < to)
        .flatMap(([, hourTimes]) => hourTimes);
      expect(row?.probes).toBe(expectedTimes.length);
      for (const [share, quantile] of [
        [0.5, row?.p50],
        [0.95, row?.p95],
        [0.99, row?.p99],
      ] as const) {
        const expected = exact(expectedTimes, share);
        expect(
          Math.abs((quantile ?? 0) - expected) / expected,
          `${share} of ${new Date(from).toISOString()}`,
        ).toBeLessThanOrEqual(RELATIVE_ERROR + 1e-3);
      }
    }
  });

  it('returns quantiles by hour and by day', async () => {
    const [from, to] = [new Date(start), new Date(start + 8 * day)];
    const queryOverTime = (by: string) => sql<{ begins: Date; probes: number; quantiles: string[] }[]>`
      select begins, probes::int, array[p50, p95, p99]::text[] as quantiles
      from reporting.node_latency_over_time(${from}, ${to}, ${by}, 'a')`;
    const queryWindow = async (begin: number, width: number) => {
      const [row] = await sql<{ probes: number; quantiles: string[] }[]>`
        select probes::int, array[p50, p95, p99]::text[] as quantiles
        from reporting.node_latency(${new Date(begin)}, ${new Date(begin + width)})`;
      return row;
    };
    const [hours, days] = await Promise.all([queryOverTime('hour'), queryOverTime('day')]);
    expect(hours.map(({ begins }) => begins.getTime())).toEqual([...times.keys()]);
    expect(days.map(({ begins }) => begins.getTime())).toEqual(
      Array.from({ length: 8 }, (_, at) => start + at * day),
    );
    for (const [width, sampled] of [
      [hour, [hours[0], hours[70], hours.at(-1)]],
      [day, days],
    ] as const)
      for (const row of sampled) {
        const { begins, ...totals } = row ?? { begins: new Date(0) };
        expect(totals, begins.toISOString()).toEqual(await queryWindow(begins.getTime(), width));
      }
    await expect(queryOverTime('week')).rejects.toThrow('by: must be hour or day, not week');
    expect(await sql`select from reporting.node_latency_over_time(${from}, ${to}, 'hour', 'b')`).toHaveLength(
      0,
    );
  });

  it('keeps the days when the hours are dropped', async () => {
    await storeHours(
      sql,
      'o',
      [{ node: 'a', probe: 'health', hour: start + 100 * day, histogram: new Map([[9, 1]]) }],
      start + 100 * day,
    );
    const countProbes = async (from: number, to: number) => {
      const [row] = await sql<{ probes: number }[]>`
        select probes::int from reporting.node_latency(${new Date(start + from * hour)}, ${new Date(start + to * hour)})`;
      return row?.probes;
    };
    expect([await countProbes(24, 48), await countProbes(20, 50), await countProbes(3, 20)]).toEqual([
      1440,
      1440,
      undefined,
    ]);
    const hourly = await sql<{ probes: number }[]>`
      select probes::int from reporting.node_latency_over_time(${new Date(start)}, ${new Date(start + 2 * day)})`;
    expect(hourly.map(({ probes }) => probes)).toEqual([1440, 1440]);
  });

  it('returns older days if another observer ended with its hours, and if an old hour was stored late', async () => {
    const createHour = (node: string, at: number): LatencyHour => ({
      node,
      probe: 'health',
      hour: at,
      histogram: histogramOf([5, 50]),
    });
    const begin = start + 60 * day;
    const end = begin + 50 * day;
    await sql`insert into recorder.health_observers (observer) values ('ended'), ('goes on')`;
    await storeHours(sql, 'ended', [createHour('seen by two', begin)], begin + hour);
    for (let at = begin; at < end; at += 6 * hour)
      await storeHours(sql, 'continues', [createHour('seen by two', at)], at + hour);
    const countProbes = async () => {
      const rows = await sql<{ observer: string; begins: Date; probes: number }[]>`
        select observer, begins, probes::int from reporting.node_latency_over_time(${new Date(begin)}, ${new Date(end)}, 'hour', 'seen by two')`;
      return {
        ended: rows.filter(({ observer }) => observer === 'ended').map(({ begins }) => begins.getTime()),
        days: rows.filter(({ observer, probes }) => observer === 'continues' && probes === 8).length,
        hours: rows.filter(({ observer, probes }) => observer === 'continues' && probes === 2).length,
        probes: rows
          .filter(({ observer }) => observer === 'continues')
          .reduce((sum, one) => sum + one.probes, 0),
      };
    };
    const before = await countProbes();
    expect(before).toMatchObject({ ended: [begin], probes: 400 });
    expect(before.days * 4 + before.hours).toBe(200);
    expect([before.days > 0, before.hours > 0]).toEqual([true, true]);
    // Its week is kept until the next hour is stored.
    await storeHours(sql, 'continues', [createHour('seen by two', begin + hour)], end);
    expect(await countProbes()).toMatchObject({ ended: [begin], probes: 402 });
  });

  it.each([
    ['others continued, and its hours were dropped', true],
    ['no probe continued, and its hours are kept', false],
  ])(
    'has all hours of a day whose last one is stored weeks later, when the probe responds again: %s',
    async (_, hasOthers) => {
      const node = hasOthers ? 'alone' : 'with all';
      const observer = `observer of ${node}`;
      await sql`insert into recorder.health_observers (observer) values (${observer})`;
      const createHour = (at: number): LatencyHour => ({
        node,
        probe: 'health',
        hour: at,
        histogram: histogramOf([5, 50]),
      });
      for (let at = start; at < start + 23 * hour; at += hour)
        await storeHours(sql, observer, [createHour(at)], at + hour);
      const laterHour = start + 28 * day;
      const other = { ...createHour(laterHour - hour), node: 'another' };
      if (hasOthers) await storeHours(sql, observer, [other], laterHour);
      const countProbes = async () => {
        const [row] = await sql<{ probes: number }[]>`
        select probes::int from reporting.node_latency(${new Date(start)}, ${new Date(start + day)}) where node = ${node}`;
        return row?.probes;
      };
      for (const time of ['once', 'once more']) {
        await storeHours(sql, observer, [createHour(start + 23 * hour)], laterHour);
        expect(await countProbes(), time).toBe(48);
      }
    },
  );
});
