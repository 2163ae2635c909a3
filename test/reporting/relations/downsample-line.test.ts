import { beforeAll, expect } from 'vitest';
import { getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { validateParameters } from '../../../src/reporting/relations/invalid-request.ts';
import { findSeriesSource, readSeries, seriesParameters } from '../../../src/reporting/relations/series.ts';
import { withDatabase } from '../../support/fixture.ts';
import { makeSeriesOf } from '../../support/points.ts';

const POINTS = 20_160;
const MINUTE = 60_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const { it, sql } = withDatabase({ max: 1, connection: { TimeZone: 'UTC', jit: 'off' } });
beforeAll(async () => {
  await makeSeriesOf(sql);
  // Few values, so that many points are equal; every hundredth is removed; a week in the middle has none.
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, vanished, run_id)
    select (select public.series_of('1', 'txCount', 'hour')), at, (n::bigint * n * 7919) % 1009, at, case when n % 100 = 0 then at end, n % 100 = 0, 1
    from generate_series(0, ${POINTS - 1}::int) n,
      lateral (select ${new Date(start)}::timestamptz + n * interval '1 minute' as at) at
    where n not between 5000 and 8000`;
  await sql.unsafe('analyze');
});

const dataset = getCatalogue().datasets.get('metric_points');
const source = dataset ? findSeriesSource(dataset) : null;
async function series(buckets: number) {
  if (!dataset || !source) throw new Error('metric points are a series');
  const query = validateParameters(seriesParameters(source), {
    ...{ chain_id: '1', metric: 'txCount', time_interval: 'hour', buckets: String(buckets) },
    ...{ from: new Date(start).toISOString(), to: new Date(start + POINTS * MINUTE).toISOString() },
  });
  return await readSeries(sql, dataset, source, query);
}

type Point = { readonly at: number; readonly value: number };
/** The points of each part: the first, the last, and the earliest of the smallest and of the greatest points. */
function extremes(points: readonly Point[], buckets: number): Point[] {
  const parts = new Map<number, Point[]>();
  for (const point of points) {
    const part = Math.floor(((point.at - start) * buckets) / (POINTS * MINUTE));
    parts.set(part, [...(parts.get(part) ?? []), point]);
  }
  const kept = [...parts.values()].flatMap((part) => {
    const byValue = part.toSorted((a, b) => a.value - b.value || a.at - b.at);
    const greatest = byValue.find(({ value }) => value === byValue.at(-1)?.value);
    return [part[0], part.at(-1), byValue[0], greatest].flatMap((point) => point ?? []);
  });
  return [...new Set(kept)].sort((a, b) => a.at - b.at);
}

it.each([1, 7, 96, 1_440])('a line in %i parts keeps exactly the extremes of each', async (buckets) => {
  const rows = await sql<{ at: Date; value: string }[]>`
    select bucket_start as at, value from reporting.metric_points order by bucket_start`;
  const all = rows.map(({ at, value }) => ({ at: at.getTime(), value: Number(value) }));
  const { points, of } = await series(buckets);
  expect(of).toBe(all.length);
  expect(points.map(([at, value]) => ({ at: Date.parse(String(at)), value: Number(value) }))).toEqual(
    extremes(all, buckets),
  );
});

it('a line within the limit is returned completely', async () => {
  const { points, of, thinned } = await series(5_000);
  expect({ of, thinned }).toEqual({ of: points.length, thinned: false });
});
