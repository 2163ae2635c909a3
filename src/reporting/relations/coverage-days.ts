import type postgres from 'postgres';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import type { DatasetRelations } from './catalogue.ts';
import { coverageCells, DAY_MICROSECONDS, DEFAULT_COVERAGE_DAYS } from './coverage-cells.ts';
import { instantParam, limitedText } from './filters.ts';
import { getParamText, type ParsedParams } from './list-parameters.ts';
import { type ParameterizedStatement, StatementBuilder } from './statement.ts';

/** The coverage of one day (UTC) of a dataset. */
export interface CoverageDay {
  readonly day: string;
  /**
   * `covered`: nothing is missing. `partial`: a part is missing. `gap`: all is missing. `none`: nothing was
   * recorded or expected.
   */
  readonly state: 'covered' | 'partial' | 'gap' | 'none';
  /** Recorded time in ms, summed over the targets. */
  readonly covered_ms: number;
  /** Missing time in ms, summed over the targets. */
  readonly missing_ms: number;
  /** The number of targets with recorded or missing time. */
  readonly targets: number;
  /**
   * The reasons for missing time, in descending order of the missing time. Time that is "not recorded yet"
   * can still be fetched.
   */
  readonly reasons: readonly { readonly reason: string; readonly missing_ms: number }[];
}

/** A range of heights. Datasets that are recorded by height have ranges instead of days. */
export interface CoverageHeights {
  readonly target: string;
  readonly first_height: number;
  readonly end_height: number;
  /** `recorded`, or the reason why the range is missing. */
  readonly reason: string;
}

/** The coverage of a dataset. */
export interface Coverage {
  readonly from: string;
  readonly to: string;
  readonly days: readonly CoverageDay[];
  readonly heights: readonly CoverageHeights[];
}

/** The requested days, and the requested target; null for all targets. */
export interface CoverageQuery {
  readonly from: string | null;
  readonly to: string | null;
  readonly target: string | null;
}

/** Maximum number of days per response. */
export const MAX_DAYS = 1_100;
/** Maximum number of height ranges per response. */
export const MAX_HEIGHT_RANGES = 1_000;

const day = (description: string) => instantParam.meta({ ...instantParam.meta(), description }).optional();

/**
 * Returns the schema of the parameters of {@link readCoverage}.
 * @param clock returns the current time, in ms since 1970
 */
export const coverageParameters = (clock: Clock): z.ZodType<CoverageQuery> =>
  z
    .strictObject(
      {
        from: day(`First day. Default: ${DEFAULT_COVERAGE_DAYS} days before \`to\`.`),
        to: day('End, exclusive. Default: now.'),
        target: limitedText
          .meta({
            description: 'One target, as key=value (see reporting.freshness). Default: all targets.',
          })
          .optional(),
      },
      {
        error: ({ code }) =>
          code === 'unrecognized_keys'
            ? 'coverage has no history: it describes the current record; use from, to, target'
            : undefined,
      },
    )
    .transform((params: ParsedParams, context): CoverageQuery => {
      const [from, to] = [getParamText(params, 'from') ?? null, getParamText(params, 'to') ?? null];
      const end = to === null ? clock() : Date.parse(to);
      if (from !== null && end - Date.parse(from) > MAX_DAYS * 86_400_000)
        context.addIssue({
          code: 'custom',
          path: ['from'],
          message: `must be at most ${MAX_DAYS} days before the end`,
        });
      if (from !== null && Date.parse(from) >= end)
        context.addIssue({ code: 'custom', path: ['from'], message: 'must be before the end' });
      return { from, to, target: getParamText(params, 'target') ?? null };
    });

/** The reason of missing time that can still be fetched, as in `reporting.gaps`. */
export const NOT_RECORDED_YET = 'not recorded yet';

/** Reads the coverage of each day of a dataset: the recorded time, the missing time, and the reasons. */
export async function readCoverage(
  sql: postgres.Sql,
  dataset: DatasetRelations,
  query: CoverageQuery,
): Promise<Coverage> {
  const { text, values } = coverageStatement(dataset, query);
  const [row] = await sql.unsafe<{ answer: Coverage }[]>(text, [...values]);
  return row?.answer ?? { from: '', to: '', days: [], heights: [] };
}

/** Returns the statement that reads a {@link Coverage} as one JSON value. */
export function coverageStatement({ name }: DatasetRelations, query: CoverageQuery): ParameterizedStatement {
  const into = new StatementBuilder();
  const { target } = query;
  const of = into.value(name, 'text');
  const condition = target === null ? '' : `target = ${into.value(target, 'text')}`;
  const and = condition === '' ? '' : ` and ${condition}`;
  const text = `with ${coverageCells('kind, reason', of, query, condition, into)},
days as (
  select g.day::date as day from moments m, generate_series(m.first_day, m.until - interval '1 microsecond', interval '1 day') as g(day)
),
-- Consecutive days on which a part of a target is recorded or missing.
spans as (
  select unnest(range_agg(int8range(starts / ${DAY_MICROSECONDS}, (ends - 1) / ${DAY_MICROSECONDS}, '[]'))) as span
  from clipped where kind = 'known' group by target
),
target_turns as (
  select (m.first_day + t.day * interval '1 day')::date as day, sum(t.turn) as turn
  from spans
  cross join moments m
  cross join lateral (values (lower(span), 1), (upper(span), -1)) as t(day, turn)
  group by 1
),
summed as (
  select day, sum(ms) filter (where kind = 'recorded') as covered, sum(ms) filter (where kind = 'missing') as missing,
    jsonb_agg(jsonb_build_object('reason', reason, 'missing_ms', round(ms)) order by ms desc, reason)
      filter (where kind = 'missing') as reasons
  from cells group by day
),
by_day as (
  select d.day, coalesce(s.covered, 0) as covered, coalesce(s.missing, 0) as missing, coalesce(s.reasons, '[]') as reasons,
    coalesce(sum(t.turn) over (order by d.day), 0) as targets
  from days d left join summed s using (day) left join target_turns t using (day)
)
select jsonb_build_object(
  'from', (select to_char(first_day, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') from moments),
  'to', (select to_char(until, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from moments),
  'days', coalesce((
    select jsonb_agg(jsonb_build_object('day', b.day,
      'state', case when b.missing = 0 and b.covered = 0 then 'none' when b.missing = 0 then 'covered'
        when b.covered = 0 then 'gap' else 'partial' end,
      'covered_ms', round(b.covered), 'missing_ms', round(b.missing), 'targets', b.targets,
      'reasons', b.reasons) order by b.day)
    from by_day b), '[]'),
  'heights', coalesce((
    select jsonb_agg(to_jsonb(h) order by h.target, h.first_height) from (
      select target, begins as first_height, ends as end_height, reason from reporting_internal.coverage_ranges
      where dataset = ${of}${and} and axis = 'height' and kind <> 'known' and begins is not null
      order by target, begins limit ${MAX_HEIGHT_RANGES}) h), '[]')) as answer`;
  return { text, values: into.values };
}

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
