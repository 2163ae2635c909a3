import type postgres from 'postgres';

/** A run of one dataset: a row of `reporting.runs`. */
export interface RunRow {
  readonly run_id: string;
  readonly dataset: string;
  readonly target: string;
  readonly reason: string;
  readonly status: string;
  readonly started_at: Date;
  readonly finished_at: Date | null;
  readonly pages: number;
  readonly items: number;
  readonly rows_written: number;
  readonly requests: number;
  readonly budget_units: number;
  readonly quarantined: number;
  readonly error: string | null;
  readonly note: string | null;
  readonly worker: string;
  readonly window_start: Date | null;
  readonly window_end: Date | null;
  readonly first_height: string | null;
}

export const runStatuses = [
  'running',
  'done',
  'partial',
  'stopped',
  'failed',
  'unsupported',
  'lost',
] as const;
export const runReasons = ['poll', 'heal', 'sweep', 'backfill', 'manual', 'redrive', 'unwatched'] as const;

export interface RunFilter {
  readonly dataset?: string | undefined;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
  /** Limits the result to runs that started before this time, in ms since 1970. */
  readonly until?: number | undefined;
  /** Limits the result to runs with a smaller id. */
  readonly before?: string | undefined;
}

export interface RunPage {
  readonly runs: readonly RunRow[];
  /** The cursor for {@link RunFilter.before}; null if there is no older run. */
  readonly next: string | null;
}

/**
 * Minimum number of rows of a full page. A run has a row for each of its datasets; a page never splits a run,
 * because the next page starts with another run.
 */
const MIN_PAGE_ROWS = 50;
/**
 * Maximum number of rows that are scanned for one page. The limit bounds the cost of searching for rare runs.
 */
const MAX_SCANNED_ROWS = 20_000;

const MAX_BIGINT = '9223372036854775807';

const COLUMNS = `run_id::text, dataset, target, reason, status, started_at, finished_at, pages, items::float8, rows_written::float8,
  requests, budget_units::float8, quarantined::float8, error, note, worker, window_start, window_end, first_height::text`;

/**
 * Returns the newest runs that match a filter. Scans a bounded number of runs; `next` continues after the
 * scanned runs.
 */
export async function readRunPage(sql: postgres.Sql, filter: RunFilter): Promise<RunPage> {
  const { dataset = null, status = null, reason = null, before = null } = filter;
  const end = filter.until === undefined ? before : await endOfRunsBefore(sql, filter.until, before);
  const rows = await sql<(RunRow & { oldest: string; scanned: number })[]>`
    with scanned as materialized (
      select * from reporting.runs where run_id < coalesce(${end}::bigint, ${MAX_BIGINT})
      order by run_id desc fetch first ${MAX_SCANNED_ROWS} rows with ties
    ),
    passed as (
      select * from scanned
      where dataset = coalesce(${dataset}, dataset) and status = coalesce(${status}, status)
        and reason = coalesce(${reason}, reason)
      order by run_id desc fetch first ${MIN_PAGE_ROWS} rows with ties
    ),
    totals as (select min(run_id)::text as oldest, count(*)::int as scanned from scanned)
    select ${sql.unsafe(COLUMNS)}, totals.oldest, totals.scanned
    from totals left join passed on true
    order by passed.run_id desc, dataset`;
  const runs = rows.filter(({ run_id }) => run_id !== null);
  const first = rows[0];
  const next =
    runs.length >= MIN_PAGE_ROWS
      ? (runs.at(-1)?.run_id ?? null)
      : first && first.scanned >= MAX_SCANNED_ROWS
        ? first.oldest
        : null;
  return { runs, next };
}

/**
 * Returns a run, one row per dataset. Returns an empty list if the run does not exist, or is only counted in
 * `reporting_internal.run_days`.
 */
export async function runRows(sql: postgres.Sql, run: string): Promise<RunRow[]> {
  return sql<RunRow[]>`
    select ${sql.unsafe(COLUMNS)} from reporting.runs
    where run_id = ${run}::bigint order by pages desc, dataset`;
}

/**
 * Returns the number after the last run that started before a time. Runs are numbered in the order of their
 * start.
 * @param time in ms since 1970
 * @param before upper bound of the result; null: no bound
 */
async function endOfRunsBefore(sql: postgres.Sql, time: number, before: string | null): Promise<string> {
  const [row] = await sql<{ end: string }[]>`
    select least(run_id + 1, ${before}::bigint)::text as end from reporting.runs
    where started_at < ${new Date(time).toISOString()} order by started_at desc, run_id desc limit 1`;
  return row?.end ?? '0';
}
