import type { CoverageQuery } from './coverage-days.ts';
import type { StatementBuilder } from './statement.ts';

/** Default length of the window of coverage, in days. */
export const DEFAULT_COVERAGE_DAYS = 90;

/** The columns of the CTE `clipped` by which recorded and missing time is grouped. */
export type CellsBy = 'kind, reason' | 'target, kind, reason';

/** A day in microseconds, the unit of the ranges. */
export const DAY_MICROSECONDS = '86400000000';

/**
 * Returns SQL of common table expressions. Three of them are for the query that follows:
 * - `moments`: the columns first_day and until.
 * - `clipped`: the time ranges of `reporting_internal.coverage_ranges`, cut to the window. The columns are
 *   kind, reason, target, and the bounds `starts` and `ends`, in microseconds since the start of the window.
 * - `cells`: the recorded and the missing time of each day. The columns are day, the columns of `by`, and ms.
 * The cost depends on the number of ranges and of returned cells, not on their product with the number of
 * days: each range adds one event at its start and one event at its end, and a running sum over the days
 * counts the open ranges.
 * @param dataset SQL of the name of the dataset
 * @param condition SQL of a condition on `target`; empty for all targets
 */
export function coverageCells(
  by: CellsBy,
  dataset: string,
  { from, to }: Pick<CoverageQuery, 'from' | 'to'>,
  condition: string,
  into: StatementBuilder,
): string {
  const end = to === null ? 'now()' : into.value(to, 'timestamptz');
  const begin =
    from === null ? `(${end} - interval '${DEFAULT_COVERAGE_DAYS} days')` : into.value(from, 'timestamptz');
  // The start of a range adds the rest of its day; the end of a range subtracts the rest of its day.
  const edges = (at: 'starts' | 'ends', sign: '+' | '-') => `
  select ${by}, ${at} / ${DAY_MICROSECONDS} as day, ${sign}count(*) as opened, ${sign}sum((${at} / ${DAY_MICROSECONDS} + 1) * ${DAY_MICROSECONDS} - ${at}) as lasts
  from clipped
  where kind <> 'known'
  group by ${by}, ${at} / ${DAY_MICROSECONDS}`;
  return `moments as (
  select date_trunc('day', ${begin} at time zone 'UTC') as first_day, ${end} at time zone 'UTC' as until
),
bounds as materialized (
  select (extract(epoch from first_day) * 1000000)::bigint as first, (extract(epoch from until) * 1000000)::bigint as until from moments
),
clipped as materialized (
  select r.kind, r.reason, r.target, greatest(r.begins, b.first) - b.first as starts, least(r.ends, b.until) - b.first as ends
  from reporting_internal.coverage_ranges r
  cross join bounds b
  where r.dataset = ${dataset}${condition === '' ? '' : ` and ${condition}`} and r.axis = 'time' and r.begins < b.until and r.ends > b.first
),
turns as (
  select ${by}, day, sum(opened) as opened, sum(lasts) as lasts
  from (${edges('starts', '+')}
  union all${edges('ends', '-')}) as e
  group by ${by}, day
),
running as (
  select ${by}, day, lasts, sum(opened) over along as opened, sum(opened) over along - opened as open_before, lead(day) over along as next_day
  from turns
  window along as (partition by ${by} order by day)
),
cells as (
  select ${by}, (m.first_day + (r.day + n) * interval '1 day')::date as day, c.lasts / 1000 as ms
  from running r
  cross join moments m
  cross join lateral generate_series(0, case when r.opened > 0 then r.next_day - r.day - 1 else 0 end) as n
  cross join lateral (select case n when 0 then r.open_before * ${DAY_MICROSECONDS} + r.lasts else r.opened * ${DAY_MICROSECONDS} end as lasts) c
  where c.lasts > 0
)`;
}
