import type postgres from 'postgres';
import { endOfGrain, startOfGrain } from '../../../reporting/relations/chart-sources.ts';
import type { ChartLine } from '../../../reporting/relations/lines.ts';
import type { Line } from '../parts/line-chart.tsx';
import type { ChartRequest } from './chart-data.ts';
import { type ChartTarget, targetOf } from './known-values.ts';

/** Completely recorded ranges of a target, in ms since 1970: inclusive start, exclusive end. */
export interface CoveredRanges {
  readonly target: ChartTarget;
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

/** Reads the current coverage of a window, by target. Targets that are recorded by height have no ranges. */
export async function readCovered(
  sql: postgres.Sql,
  { drawable: { dataset }, window: [from, to] }: ChartRequest,
): Promise<CoveredRanges[]> {
  if (!dataset) return [];
  const rows = await sql<{ target: string; from: number | null; to: number | null }[]>`
    select target, extract(epoch from range_start)::float8 * 1000 as from, extract(epoch from range_end)::float8 * 1000 as to
    from reporting.coverage
    where dataset = ${dataset.name} and (range_start is null or (range_start < ${to} and range_end > ${from}))`;
  const targets = new Map<string, (readonly [number, number])[]>();
  for (const { target, from: begin, to: end } of rows) {
    const ranges = targets.get(target) ?? [];
    targets.set(target, ranges);
    if (begin !== null && end !== null) ranges.push([begin, end]);
  }
  return [...targets].map(([target, ranges]) => ({ target: targetOf(target), ranges }));
}

/**
 * Returns the points of a line of counts, with zeros for completely recorded buckets without items. Counts of
 * other empty buckets are unknown, so these buckets get no point.
 */
export function fillEmptyBuckets(
  points: Line['points'],
  { of }: ChartLine,
  { grain, keyValues, window: [from, to] }: ChartRequest,
  covered: readonly CoveredRanges[],
): Line['points'] {
  const keyValueOf = (name: string) => of[name] ?? keyValues[name]?.[0];
  const own = covered.filter(({ target }) =>
    Object.entries(target).every(([name, value]) => (keyValueOf(name) ?? value) === value),
  );
  if (own.length === 0 || grain === null) return points;
  const known = new Map(points);
  const all: [number, string | null][] = [];
  for (
    let begin = startOfGrain(from.getTime(), grain);
    begin < to.getTime();
    begin = endOfGrain(begin, grain)
  ) {
    const end = endOfGrain(begin, grain);
    const value = known.get(begin);
    const isCovered = own.every(({ ranges }) =>
      ranges.some(([since, until]) => since <= begin && end <= until),
    );
    if (value !== undefined || isCovered) all.push([begin, value ?? '0']);
  }
  return all;
}
