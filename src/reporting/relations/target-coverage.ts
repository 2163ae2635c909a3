import type postgres from 'postgres';
import type { DatasetRelations } from './catalogue.ts';
import { coverageCells } from './coverage-cells.ts';
import { type CoverageQuery, NOT_RECORDED_YET } from './coverage-days.ts';
import { StatementBuilder } from './statement.ts';

/** The recorded and missing time of a target on one day, in ms. */
export interface TargetDay {
  readonly day: string;
  readonly covered_ms: number;
  readonly missing_ms: number;
  /** The part of the missing time that can still be fetched. */
  readonly fetchable_ms: number;
}

/** The state of a target, and its days with recorded or missing time. */
export interface TargetCoverage {
  readonly target: string;
  /** State as in `reporting_internal.coverage_states`; null if the target is no longer watched. */
  readonly state: string | null;
  /** The reason why the target fails or is incomplete; null if the target is complete. */
  readonly reason: string | null;
  readonly last_success_at: string | null;
  readonly days: readonly TargetDay[];
}

/** A page of targets, by name. `next` is the last target of the page; null if no more targets follow. */
export interface TargetCoveragePage {
  readonly targets: readonly TargetCoverage[];
  readonly next: string | null;
}

/**
 * Reads the daily coverage of each target.
 * @param after the last target of the previous page; null for the first page
 */
export async function readTargetCoverage(
  sql: postgres.Sql,
  { name }: DatasetRelations,
  query: CoverageQuery,
  after: string | null,
  limit: number,
): Promise<TargetCoveragePage> {
  const into = new StatementBuilder();
  const dataset = into.value(name, 'text');
  const condition = [
    `dataset = ${dataset}`,
    ...(query.target === null ? [] : [`target = ${into.value(query.target, 'text')}`]),
    ...(after === null ? [] : [`target > ${into.value(after, 'text')}`]),
  ].join(' and ');
  const found = await sql.unsafe<TargetCoverage[]>(
    // `reporting.coverage` has one row per range. If the watched targets fill the page, the view is read
    // only up to the last of these targets.
    `with watched as materialized (
  select target from reporting_internal.coverage_states where ${condition} order by target limit ${limit + 1}
),
listed as materialized (
  select target from watched
  union
  select target from reporting.coverage where ${condition}
    and ((select count(*) from watched) <= ${limit} or target <= (select max(target) from watched))
  order by target limit ${limit + 1}
),
${coverageCells('target, kind, reason', dataset, query, 'target = any (array(select target from listed))', into)},
by_day as (
  select target, day, coalesce(sum(ms) filter (where kind = 'recorded'), 0) as covered,
    coalesce(sum(ms) filter (where kind = 'missing'), 0) as missing,
    coalesce(sum(ms) filter (where kind = 'missing' and reason = ${into.value(NOT_RECORDED_YET, 'text')}), 0) as fetchable
  from cells group by target, day
),
days as (
  select target, json_agg(json_build_object('day', day, 'covered_ms', round(covered),
    'missing_ms', round(missing), 'fetchable_ms', round(fetchable)) order by day) as days
  from by_day group by target
)
select l.target, s.state, f.reason, to_char(f.last_success_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as last_success_at,
  coalesce(b.days, '[]'::json) as days
from listed l
left join days b using (target)
left join reporting_internal.coverage_states s on s.dataset = ${dataset} and s.target = l.target
left join reporting.freshness f on f.dataset = ${dataset} and f.target = l.target
order by l.target`,
    [...into.values],
  );
  const targets = found.slice(0, limit);
  return { targets, next: found.length > limit ? (targets.at(-1)?.target ?? null) : null };
}
