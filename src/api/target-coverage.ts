import type postgres from 'postgres';
import type { ReadableDataset } from './catalogue.ts';
import { coverageCells } from './coverage-cells.ts';
import { type CoverageQuestion, NOT_YET } from './coverage-days.ts';
import { Statement } from './statement.ts';

/** What of a day of a target is recorded and missing, in milliseconds. */
export interface TargetDay {
  readonly day: string;
  readonly covered_ms: number;
  readonly missing_ms: number;
  /** The part of what is missing that can still be fetched. */
  readonly fetchable_ms: number;
}

/** How a target stands, and each of its days of which something is recorded or missing. */
export interface TargetCoverage {
  readonly target: string;
  /** As in `reporting.coverage_states`; null: it is not watched any more. */
  readonly state: string | null;
  /** Why it fails or is incomplete; null: it does not. */
  readonly reason: string | null;
  readonly last_success_at: string | null;
  readonly days: readonly TargetDay[];
}

/** A page of targets, by their names; `next` is the last of them where more follow, else null. */
export interface TargetCoveragePage {
  readonly targets: readonly TargetCoverage[];
  readonly next: string | null;
}

/** Reads how the days of each target stand. @param after the target before the page; null: it is the first page */
export async function readTargetCoverage(
  sql: postgres.Sql,
  { name }: ReadableDataset,
  question: CoverageQuestion,
  after: string | null,
  limit: number,
): Promise<TargetCoveragePage> {
  const into = new Statement();
  const dataset = into.value(name, 'text');
  const wanted = [
    `dataset = ${dataset}`,
    ...(question.target === null ? [] : [`target = ${into.value(question.target, 'text')}`]),
    ...(after === null ? [] : [`target > ${into.value(after, 'text')}`]),
  ].join(' and ');
  const found = await sql.unsafe<TargetCoverage[]>(
    `with listed as materialized (
  select target from reporting.coverage_states where ${wanted}
  union
  select target from reporting.coverage where ${wanted}
  order by target limit ${limit + 1}
),
${coverageCells('target, kind, reason', dataset, question, 'target in (select target from listed)', into)},
by_day as (
  select target, day, coalesce(sum(ms) filter (where kind = 'recorded'), 0) as covered,
    coalesce(sum(ms) filter (where kind = 'missing'), 0) as missing,
    coalesce(sum(ms) filter (where kind = 'missing' and reason = ${into.value(NOT_YET, 'text')}), 0) as fetchable
  from cells group by target, day
)
select l.target, s.state, f.reason, to_char(f.last_success_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as last_success_at,
  coalesce((
    select jsonb_agg(jsonb_build_object('day', b.day, 'covered_ms', round(b.covered),
      'missing_ms', round(b.missing), 'fetchable_ms', round(b.fetchable)) order by b.day)
    from by_day b where b.target = l.target), '[]') as days
from listed l
left join reporting.coverage_states s on s.dataset = ${dataset} and s.target = l.target
left join reporting.freshness f on f.dataset = ${dataset} and f.target = l.target
order by l.target`,
    [...into.values],
  );
  const targets = found.slice(0, limit);
  return { targets, next: found.length > limit ? (targets.at(-1)?.target ?? null) : null };
}
