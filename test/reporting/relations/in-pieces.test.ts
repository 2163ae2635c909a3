import { describe, expect } from 'vitest';
import { chooseChartGrain, listChartSources } from '../../../src/reporting/relations/chart-sources.ts';
import { type PointsSource, readDownsampled } from '../../../src/reporting/relations/downsample.ts';
import { readLines } from '../../../src/reporting/relations/lines.ts';
import { completeKeys, readTargets } from '../../../src/server/pages/charts/known-values.ts';
import { withDatabase } from '../../support/fixture.ts';

const DAY = 86_400_000;
/** All chart sources; relations by time are read in pieces if they are too large, and tested separately. */
const drawables = [...listChartSources().values()].filter(({ dataset }) => dataset?.kind !== 'series');
/** Everything is read, however long it takes. */
const unhurried = { budgetMs: Number.POSITIVE_INFINITY, clock: () => 0 };
const { it, sql } = withDatabase({
  recorded: true,
  max: 1,
  connection: { TimeZone: 'UTC', jit: 'off', statement_timeout: 30_000 },
});
it('drawing in pieces equals drawing at once, for every chart source', async () => {
  const [bounds] = await sql<{ begin: Date; end: Date }[]>`
    select min(started_at) as begin, max(started_at) as end from reporting.runs`;
  const window = [new Date((bounds?.begin.getTime() ?? 0) - 3 * DAY), bounds?.end ?? new Date()] as const;
  const drawn = new Set<string>();
  for (const drawable of drawables) {
    const { name, needed, values, counted, dataset } = drawable;
    const keys = completeKeys({}, await readTargets(sql, drawable, {}), needed);
    const query = {
      columns: values.map((one) => one.name).slice(0, 3),
      keyValues: Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, [value]])),
      args: {},
      grain: chooseChartGrain(drawable, window[1].getTime() - window[0].getTime()),
      window,
      asOf: null,
    };
    const read = async (trial: number) => {
      const limits = { ...unhurried, trialTimeoutMs: trial, maxLines: 1_000, buckets: 100_000 };
      const { lines, unreadBefore } = await readLines(sql, drawable, query, limits);
      return {
        unreadBefore,
        lines: new Map(lines.map(({ of, points, count }) => [JSON.stringify(of), { points, count }])),
      };
    };
    const whole = await read(5_000);
    expect(await read(0), name).toEqual(whole);
    if (whole.lines.size > 0) drawn.add(counted ? 'counted' : (dataset?.kind ?? 'function'));
  }
  expect(drawn).toEqual(new Set(['counted', 'state', 'sample', 'function']));
});

describe('a series that is too slow to read at once', () => {
  const window = [new Date('2026-01-01'), new Date('2026-12-27')] as const;
  const [begin, end] = [window[0].getTime(), window[1].getTime()];
  const days = (end - begin) / DAY;
  /** A rising line and a falling one, a point a day. A query over more days than this never ends. */
  const risingAndFalling = (maxDays: number): PointsSource => ({
    window,
    beginOf: (moment) => Math.floor(moment / DAY) * DAY,
    pointsIn: (into, part) => {
      const [from, to] = (part ?? window).map((one) => into.value(one.toISOString(), 'timestamptz'));
      const rows = `(select d as at, line, case line when 'rising' then d::date - date '2026-01-01' else 300 - (d::date - date '2026-01-01') end as value
        from generate_series(${from}, ${to} - interval '1 second', interval '1 day') d, unnest(array['rising', 'falling']) line,
          pg_sleep(case when ${to} - ${from} > interval '${maxDays} days' then 3600 else 0 end)) `;
      const values = [['value', 'r.value']] as const;
      const found = {
        foundByTime: false,
        inPieces: false,
        parts: null,
        conditions: [],
        ends: null,
        counted: null,
      };
      return { ...found, rows, at: 'r.at', values, of: ['r.line'], begin: from ?? null, end: to ?? null };
    },
  });
  const read = (maxDays: number, lines: number) =>
    readDownsampled(sql, risingAndFalling(maxDays), {
      ...unhurried,
      trialTimeoutMs: 50,
      maxLines: lines,
      buckets: 1_000,
    });

  it('is read in pieces with the same lines: those with the greatest values in the newest', async () => {
    // The complete window is too large, and each piece is small enough.
    const { rows, unreadBefore } = await read(days - 1, 1);
    expect(unreadBefore).toBeNull();
    expect(rows.map(({ line, value }) => [line, Number(value)])).toEqual(
      Array.from({ length: days }, (_, day) => [['rising'], day]),
    );
    expect(rows.at(-1)).toMatchObject({ of: String(days), lines: '2' });
  });

  it('is drawn up to the piece that is too slow, and later statements keep their time', async () => {
    const { rows, unreadBefore } = await read(days / 16 + 1, 2);
    expect(unreadBefore).toEqual(new Date(end - Math.ceil(days / 16) * DAY));
    expect(new Set(rows.map(({ at }) => at)).size).toBe(Math.ceil(days / 16));
    expect([...(await sql`show statement_timeout`)]).toEqual([{ statement_timeout: '30s' }]);
  });
});
