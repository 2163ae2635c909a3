import type postgres from 'postgres';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { ReadableDataset } from './catalogue.ts';
import { instant, written } from './filters.ts';
import { type Told, textOf as told } from './list-parameters.ts';
import { Statement } from './statement.ts';

/** How a day (UTC) of a dataset stands. */
export interface CoverageDay {
  readonly day: string;
  /** `covered`: nothing is missing; `partial`: a part is; `gap`: all is; `none`: nothing was recorded or expected. */
  readonly state: 'covered' | 'partial' | 'gap' | 'none';
  /** Milliseconds that are recorded and that are missing, summed over the targets. */
  readonly covered_ms: number;
  readonly missing_ms: number;
  /** The targets of which something is recorded or missing. */
  readonly targets: number;
  /** Why something is missing, the longest first; "not recorded yet" can still be fetched. */
  readonly reasons: readonly { readonly reason: string; readonly missing_ms: number }[];
}

/** A dataset that is recorded by heights has no days, but ranges. */
export interface CoverageHeights {
  readonly target: string;
  readonly first_height: number;
  readonly end_height: number;
  /** `recorded`, or why it is missing. */
  readonly reason: string;
}

/** The coverage of a dataset. */
export interface Coverage {
  readonly from: string;
  readonly to: string;
  readonly days: readonly CoverageDay[];
  readonly heights: readonly CoverageHeights[];
}

/** Which days, and of which target; null: of all. */
export interface CoverageQuestion {
  readonly from: string | null;
  readonly to: string | null;
  readonly target: string | null;
}

/** The most days of an answer. */
export const MOST_DAYS = 1_100;
/** The most ranges of heights of an answer, and how many days there are unless told. */
const MOST_HEIGHTS = 1_000;
const DAYS = 90;

const day = (description: string) => instant.meta({ ...instant.meta(), description }).optional();

/** The parameters of {@link readCoverage}. @param clock now, ms since 1970 */
export const coverageParameters = (clock: Clock): z.ZodType<CoverageQuestion> =>
  z
    .strictObject(
      {
        from: day(`The first day; ${DAYS} days before \`to\` unless told.`),
        to: day('The end, itself not in it; now unless told.'),
        target: written
          .meta({
            description: 'One target, as key=value: see reporting.freshness. All of them unless told.',
          })
          .optional(),
      },
      {
        error: ({ code }) =>
          code === 'unrecognized_keys'
            ? 'coverage tells how the record stands now, without a past; there are from, to, target'
            : undefined,
      },
    )
    .transform((given: Told, context): CoverageQuestion => {
      const [from, to] = [told(given, 'from') ?? null, told(given, 'to') ?? null];
      const end = to === null ? clock() : Date.parse(to);
      if (from !== null && end - Date.parse(from) > MOST_DAYS * 86_400_000)
        context.addIssue({
          code: 'custom',
          path: ['from'],
          message: `must be at most ${MOST_DAYS} days before the end`,
        });
      if (from !== null && Date.parse(from) >= end)
        context.addIssue({ code: 'custom', path: ['from'], message: 'must be before the end' });
      return { from, to, target: told(given, 'target') ?? null };
    });

/** Why something is missing that can still be fetched, as `reporting.gaps` tells it. */
export const NOT_YET = 'not recorded yet';

/**
 * SQL: the common table expressions `moments` (first_day, until), `ranges` (recorded, target, reason and bounds), `days` (day) and
 * `parts` (day, recorded, target, reason, ms): what of each day is recorded and missing.
 * @param dataset SQL of its name
 * @param wanted SQL of a condition on `target`; empty: all targets
 */
export function coverageParts(
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
days as (
  select d.day, (d.day at time zone 'UTC') as begins, least(d.day + interval '1 day', m.until) at time zone 'UTC' as ends
  from moments m, generate_series(m.first_day, m.until - interval '1 microsecond', interval '1 day') as d(day)
),
parts as (
  select d.day, r.recorded, r.target, r.reason,
    1000 * extract(epoch from least(r.range_end, d.ends) - greatest(r.range_start, d.begins)) as ms
  from days d
  join ranges r on r.range_start < d.ends and r.range_end > d.begins
)`;
}

/** Reads how each day of a dataset stands: what is recorded, what is missing, and why. */
export async function readCoverage(
  sql: postgres.Sql,
  { name }: ReadableDataset,
  question: CoverageQuestion,
): Promise<Coverage> {
  const into = new Statement();
  const { target } = question;
  const wanted = target === null ? '' : `target = ${into.value(target, 'text')}`;
  const [row] = await sql.unsafe<{ answer: Coverage }[]>(
    `with ${coverageParts(into.value(name, 'text'), question, wanted, into)},
by_reason as (
  select day, reason, sum(ms) as ms from parts where not recorded group by day, reason
),
by_day as (
  select d.day, coalesce(sum(p.ms) filter (where p.recorded), 0) as covered,
    coalesce(sum(p.ms) filter (where not p.recorded), 0) as missing, count(distinct p.target) as targets
  from days d left join parts p using (day)
  group by d.day
)
select jsonb_build_object(
  'from', (select to_char(first_day, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') from moments),
  'to', (select to_char(until, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from moments),
  'days', coalesce((
    select jsonb_agg(jsonb_build_object('day', b.day::date,
      'state', case when b.missing = 0 and b.covered = 0 then 'none' when b.missing = 0 then 'covered'
        when b.covered = 0 then 'gap' else 'partial' end,
      'covered_ms', round(b.covered), 'missing_ms', round(b.missing), 'targets', b.targets,
      'reasons', coalesce((
        select jsonb_agg(jsonb_build_object('reason', r.reason, 'missing_ms', round(r.ms)) order by r.ms desc, r.reason)
        from by_reason r where r.day = b.day), '[]')) order by b.day)
    from by_day b), '[]'),
  'heights', coalesce((
    select jsonb_agg(to_jsonb(h) order by h.target, h.first_height) from (
      select target, first_height, end_height, reason from ranges where first_height is not null
      order by target, first_height limit ${MOST_HEIGHTS}) h), '[]')) as answer`,
    [...into.values],
  );
  return row?.answer ?? { from: '', to: '', days: [], heights: [] };
}
