import type postgres from 'postgres';

export interface DiscrepancyCount {
  readonly check_name: string;
  readonly open: number;
  /** Number of discrepancies found within the last 24 hours. */
  readonly found_today: number;
}

/** A discrepancy between two sources: a row of `reporting.discrepancies`. Numbers are exact texts. */
export interface Discrepancy {
  readonly check_name: string;
  readonly subject: string;
  readonly at: Date;
  readonly left_source: string;
  readonly left_value: string;
  readonly right_source: string;
  readonly right_value: string;
  readonly difference: string | null;
  readonly relative_difference: string | null;
  readonly tolerance: string;
  readonly found_at: Date;
  readonly ended_at: Date | null;
}

/** A level shift: a row of `reporting.series_breaks`. Numbers are exact texts. */
export interface SeriesBreak {
  readonly chain_id: string;
  readonly metric: string;
  readonly broke_at: Date;
  readonly level_before: string;
  readonly level_after: string;
  readonly ratio: string | null;
  readonly strength: string;
  readonly found_at: Date;
}

/** A time range, in ms since 1970: inclusive start, exclusive end; null: no bound. */
interface Span {
  readonly from: number | null;
  readonly to: number | null;
}

const bound = (ms: number | null) => (ms === null ? null : new Date(ms));

/** State of the comparisons of one scope (the nodes, or the metrics of one chain) since their first run. */
export interface ComparisonState {
  readonly scope: string;
  /** Start of the consecutive failures; null if the last comparison succeeded. */
  readonly failed_since: Date | null;
  readonly error: string | null;
}

export async function comparisonStates(sql: postgres.Sql): Promise<ComparisonState[]> {
  return sql<ComparisonState[]>`
    select scope, failed_since, error from reporting_internal.check_runs order by scope`;
}

export async function discrepancyCounts(sql: postgres.Sql): Promise<DiscrepancyCount[]> {
  return sql<DiscrepancyCount[]>`
    select check_name, count(*)::int as open,
      (count(*) filter (where found_at > now() - interval '1 day'))::int as found_today
    from reporting.discrepancies where ended_at is null group by check_name order by check_name`;
}

/** Returns the open discrepancies within a time range, newest first. */
export async function discrepanciesIn(
  sql: postgres.Sql,
  { from, to }: Span,
): Promise<postgres.RowList<Discrepancy[]>> {
  return await sql<Discrepancy[]>`
    select check_name, subject, at, left_source, left_value, right_source, right_value, difference::text, relative_difference::text,
      tolerance, found_at, ended_at
    from reporting.discrepancies
    where ended_at is null and at >= coalesce(${bound(from)}::timestamptz, '-infinity')
      and at < coalesce(${bound(to)}::timestamptz, 'infinity')
    order by at desc, check_name, subject`;
}

export interface DiscrepancyFilter {
  /** `open`, `ended`, or absent for both. */
  readonly state?: 'open' | 'ended' | undefined;
  readonly check?: string | undefined;
  /** Limits the result to discrepancies with a smaller id. */
  readonly before?: string | undefined;
}

const PAGE_SIZE = 50;

/**
 * Returns a page of discrepancies that match a filter, newest first. `next` is the id for the next page; null
 * if there are no more discrepancies.
 */
export async function discrepancyPage(
  sql: postgres.Sql,
  { state, check, before }: DiscrepancyFilter,
): Promise<{
  readonly found: readonly (Discrepancy & { readonly id: string })[];
  readonly next: string | null;
}> {
  const found = await sql<(Discrepancy & { id: string })[]>`
    select id::text, check_name, subject, at, left_source, left_value, right_source, right_value, difference::text,
      relative_difference::text, tolerance, found_at, ended_at
    from reporting.discrepancies d
    where id < coalesce(${before ?? null}::bigint, 9223372036854775807) and check_name = coalesce(${check ?? null}, check_name)
      ${state === undefined ? sql`` : state === 'open' ? sql`and ended_at is null` : sql`and ended_at is not null`}
    order by d.id desc limit ${PAGE_SIZE}`;
  return { found, next: found.length === PAGE_SIZE ? (found.at(-1)?.id ?? null) : null };
}

/** Returns the level shifts within a time range, newest first. @param most maximum number; null: all */
export async function breaksIn(
  sql: postgres.Sql,
  { from, to }: Span,
  most: number | null = null,
): Promise<postgres.RowList<SeriesBreak[]>> {
  return await sql<SeriesBreak[]>`
    select chain_id, metric, broke_at, level_before::text, level_after::text, ratio::text, strength::text, found_at
    from reporting.series_breaks
    where broke_at >= coalesce(${bound(from)}::timestamptz, '-infinity')
      and broke_at < coalesce(${bound(to)}::timestamptz, 'infinity')
    order by broke_at desc, chain_id, metric limit ${most}`;
}

/** Renders the counts as text. */
export function describeDiscrepancies(counts: readonly DiscrepancyCount[]): string {
  const sum = (of: 'open' | 'found_today') => counts.reduce((all, one) => all + one[of], 0);
  if (counts.length === 0) return 'none';
  const each = counts.map(({ check_name, open }) => `${check_name} ${open}`).join(', ');
  return `${sum('open')} open (${each}), ${sum('found_today')} of them found within a day`;
}
