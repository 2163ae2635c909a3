import { beforeAll, describe, expect } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { listChartSources } from '../../../src/reporting/relations/chart-sources.ts';
import { type LinesQuery, readLines } from '../../../src/reporting/relations/lines.ts';
import { withDatabase } from '../../support/fixture.ts';
import { makeSeriesOf } from '../../support/points.ts';

const start = new Date('2026-01-01T00:00:00Z');
/** Before every seventh point was revised. */
const before = new Date('2028-06-01T00:00:00Z');
const chains = ['1', '2'];
/** Points that one statement reads: a series has many more. */
const AT_ONCE = 1_000;
const PARTS = 100;
const UNTIL_ALL_IS_READ = Number.POSITIVE_INFINITY;
const { it, sql } = withDatabase({ max: 1, connection: { TimeZone: 'UTC', jit: 'off' } });

beforeAll(async () => {
  await makeSeriesOf(sql);
  // Points by the hour, a gap of half a year, then some thousand by the minute. Every seventh was revised, and was far
  // lower before.
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, run_id)
    select c.series_id, at, v.value, v.since, v.until, 1
    from (select chain_id, public.series_of(chain_id, 'txCount', 'hour') as series_id from unnest(${chains}::text[]) as chain_id offset 0) c,
      generate_series(0, 16000) n,
      lateral (
        select ${start}::timestamptz + interval '1 hour' * least(n, 8000) + interval '1 min' * greatest(n - 8000, 0) as at,
          (n::bigint * n * 7919) % 1009 + c.chain_id::int as value) p,
      lateral (
        select p.value, ${start}::timestamptz, null::timestamptz where n % 7 <> 0
        union all select p.value - 5000, ${start}, '2028-07-01' where n % 7 = 0
        union all select p.value, '2028-07-01', null where n % 7 = 0) v(value, since, until)
    where n not between 1000 and 5000`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
    values ('metric-points', 'k', 'metric_points', 60000, true, ${start}, ${start})`;
  await sql.unsafe('vacuum analyze recorder.metric_points');
});

interface ChartRequest {
  readonly chain: readonly string[];
  readonly asOf: Date | null;
  readonly budget: number;
}

async function drawChart({ chain, asOf, budget }: ChartRequest) {
  const drawable = listChartSources().get('metric_points');
  if (!drawable) throw new Error('metric points can be drawn');
  const query: LinesQuery = {
    columns: ['value'],
    keyValues: { chain_id: [...chain], metric: ['txCount'], time_interval: ['hour'] },
    args: {},
    grain: null,
    // Much longer than the points.
    window: [new Date('1990-01-01'), new Date('2050-01-01')],
    asOf: asOf?.toISOString() ?? null,
  };
  return await readLines(sql, drawable, query, {
    maxLines: 8,
    buckets: PARTS,
    budgetMs: budget,
    clock: systemClock,
    maxPoints: AT_ONCE,
  });
}

/** All points of a chain, in the order of time. */
async function readPoints(chain: string, asOf: Date | null) {
  const rows = await sql<{ at: Date; value: string }[]>`
    select bucket_start as at, value from reporting.metric_points_history
    where chain_id = ${chain} and case when ${asOf}::timestamptz is null then valid_to is null
      else valid_from <= ${asOf} and (valid_to is null or valid_to > ${asOf}) end
    order by bucket_start`;
  return rows.map(({ at, value }) => [at.getTime(), Number(value)] as const);
}

describe.each([
  ['now', null],
  ['at a past moment', before],
] as const)('too many points for one statement, as known %s', (_, asOf) => {
  it.each([[['1']], [['2', '1']]])('chain %j: every extreme survives', async (chain) => {
    const { lines, of, unreadBefore } = await drawChart({ chain, asOf, budget: UNTIL_ALL_IS_READ });
    expect({ of, unreadBefore }).toEqual({ of: chain.length, unreadBefore: null });
    for (const [place, one] of chain.entries()) {
      const all = await readPoints(one, asOf);
      const line = lines[place];
      const points = (line?.points ?? []).map(([at, value]) => [Date.parse(at), Number(value)] as const);
      expect(line?.count).toBe(all.length);
      expect(line?.of).toEqual(chain.length > 1 ? { chain_id: one, value: 'value' } : { value: 'value' });
      expect(points.length).toBeLessThan(1_000);
      expect([points[0], points.at(-1)]).toEqual([all[0], all.at(-1)]);
      // True points, each once, in the order of time.
      const valueByTime = new Map(all);
      expect(points.filter(([at, value]) => valueByTime.get(at) !== value)).toEqual([]);
      expect(points.map(([at]) => at)).toEqual([...new Set(points.map(([at]) => at))].sort((a, b) => a - b));
      // No value is lower or higher than what is drawn within the width of a part, whose number is rounded.
      const width = (1.5 * ((all.at(-1)?.[0] ?? 0) - (all[0]?.[0] ?? 0))) / PARTS;
      const lost = all.filter(([at, value]) => {
        const near = points.filter((point) => Math.abs(point[0] - at) <= width);
        return !near.some((point) => point[1] <= value) || !near.some((point) => point[1] >= value);
      });
      expect(lost).toEqual([]);
    }
  });

  it('reports what was not read in time, and how to request it', async () => {
    const { lines, unreadBefore } = await drawChart({ chain: ['1', '2'], asOf, budget: 0 });
    const moment = unreadBefore?.getTime() ?? 0;
    const newest = (await readPoints('1', asOf)).at(-1)?.[0] ?? 0;
    expect(moment).toBeGreaterThan(start.getTime());
    expect(moment).toBeLessThan(newest);
    for (const { points } of lines) {
      expect(Date.parse(points[0]?.[0] ?? '')).toBeGreaterThanOrEqual(moment);
      expect(Date.parse(points.at(-1)?.[0] ?? '')).toBe(newest);
    }
  });
});
