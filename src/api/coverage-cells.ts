import type { CoverageQuestion } from './coverage-days.ts';
import type { Statement } from './statement.ts';

/** How many days there are unless told. */
export const DAYS = 90;

/** How what is recorded and missing is summed up: columns of `ranges`. */
export type CellsBy = 'recorded, reason' | 'target, recorded, reason';

/**
 * SQL: the common table expressions `moments` (first_day, until), `ranges` (recorded, target, reason and bounds), `clipped` (ranges
 * cut to the window, with their `first` and `last` day) and `cells` (day, the columns of `by`, ms): what of each day is recorded and
 * missing. The cost depends on the ranges and on the cells that are told, not on ranges times days: a range counts in its first and
 * last day by itself, and of the whole days between only the first and the one after are noted and summed along.
 * @param dataset SQL of its name
 * @param wanted SQL of a condition on `target`; empty: all targets
 */
export function coverageCells(
  by: CellsBy,
  dataset: string,
  { from, to }: Pick<CoverageQuestion, 'from' | 'to'>,
  wanted: string,
  into: Statement,
): string {
  const end = to === null ? 'now()' : into.value(to, 'timestamptz');
  const begin = from === null ? `(${end} - interval '${DAYS} days')` : into.value(from, 'timestamptz');
  const ranges = (view: string) => `
  select target, reason, range_start, range_end, first_height, end_height from reporting.${view}
  where dataset = ${dataset}${wanted === '' ? '' : ` and ${wanted}`}`;
  return `moments as (
  select date_trunc('day', ${begin} at time zone 'UTC') as first_day, ${end} at time zone 'UTC' as until
),
ranges as (select true as recorded, c.* from (${ranges('coverage')}) c union all select false, g.* from (${ranges('gaps')}) g),
clipped as materialized (
  select r.recorded, r.target, r.reason, c.starts, c.ends, c.starts::date as first, (c.ends - interval '1 microsecond')::date as last
  from ranges r
  cross join moments m
  cross join lateral (
    select greatest(r.range_start at time zone 'UTC', m.first_day) as starts,
      least(r.range_end at time zone 'UTC', m.until) as ends) c
  where r.range_start is not null and r.range_end is not null and c.starts < c.ends
),
turns as (
  select ${by}, p.day, sum(p.lasts) as lasts, sum(p.whole) as whole
  from clipped c
  cross join lateral (values
    (c.first, least(c.ends, c.first + interval '1 day') - c.starts, 0),
    (c.first + 1, interval '0', 1),
    (c.last, c.ends - c.last::timestamp, -1)) as p(day, lasts, whole)
  where p.whole = 0 or c.last > c.first
  group by ${by}, p.day
),
running as (
  select ${by}, day, lasts, sum(whole) over along as whole, lead(day) over along as next_day
  from turns
  window along as (partition by ${by} order by day)
),
cells as (
  select ${by}, r.day + n as day,
    1000 * extract(epoch from r.whole * interval '1 day' + case n when 0 then r.lasts else interval '0' end) as ms
  from running r
  cross join lateral generate_series(0, case when r.whole > 0 then r.next_day - r.day - 1 else 0 end) as n
)`;
}
