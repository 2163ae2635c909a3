import type postgres from 'postgres';
import { readEarlierClock } from '../db/clock-skew.ts';
import { tableText } from '../db/orm.ts';
import { runDays, runs, targetDatasets } from '../db/schema/bookkeeping.ts';

/**
 * Maximum number of runs that one statement moves, so that the statement is short and does not block others.
 */
const MOVE_BATCH_SIZE = 2_000;
/** Time for which daily counts are kept, in ms. Older counts are aggregated by month. */
const DAILY_RETENTION_MS = 92 * 86_400_000;

const COUNTS = [
  'runs',
  'failed',
  'lost',
  'pages',
  'items',
  'rows_written',
  'requests',
  'budget_units',
  'quarantined',
] as const;
const names = COUNTS.join(', ');
const added = COUNTS.map((count) => `${count} = d.${count} + excluded.${count}`).join(', ');
const onConflict = `on conflict (span, starts_on, dataset, target_key, reason) do update set ${added}`;

/** SQL: a count of a whole run, which belongs to the first dataset of the run, as in reporting.runs. */
const firstDatasetSql = (count: string) => `sum(case l.place when 1 then ${count} else 0 end)`;

/**
 * SQL: condition that a run `r` is kept, because its id is used later. The runs of a target up to its first
 * success identify the initial members. The runs of targets that were only recorded manually are also kept.
 * The newest run is kept, because seals and exports read the newest number from this run.
 */
export const isNeededByIdSql = `(r.run_id = (select max(run_id) from ${tableText(runs)}) or exists (
    select from ${tableText(targetDatasets)} d
    where d.source = r.source and d.target_key = r.target_key and d.dataset = any(r.datasets)
      and (d.first_success_at is null or d.first_success_at >= r.started_at or (not d.active and d.left_at is null))))`;

/**
 * Returns SQL that moves a batch of the runs `r` that ended before $1.
 * @param condition SQL; must match the predicate of an index
 */
const moveRunsSql = (condition: string) => `
  with old as materialized (
    select r.run_id from ${tableText(runs)} r where r.finished_at < $1 and ${condition} and not ${isNeededByIdSql}
    order by r.finished_at limit ${MOVE_BATCH_SIZE} for update of r skip locked
  ), deleted as (
    delete from ${tableText(runs)} r using old where r.run_id = old.run_id returning r.*
  ), counted as (
    insert into ${tableText(runDays)} as d (span, starts_on, dataset, target_key, reason, ${names})
    select 'day', (g.started_at at time zone 'UTC')::date, l.dataset, g.target_key, g.reason, count(*),
      count(*) filter (where g.status = 'failed'), count(*) filter (where g.status = 'lost'), ${firstDatasetSql('g.pages')},
      sum(g.items[l.place]), sum(g.rows_written[l.place]), ${firstDatasetSql('g.requests')}, ${firstDatasetSql('g.budget_units')},
      ${firstDatasetSql('g.quarantined')}
    from deleted g, unnest(g.datasets) with ordinality as l(dataset, place)
    -- A fixed order prevents deadlocks of two processes that run this statement concurrently.
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    ${onConflict})
  select count(*)::int as moved from deleted`;

const MOVE_EMPTY_RUNS = moveRunsSql('0 = all (r.rows_written)');
const MOVE_WRITTEN_RUNS = moveRunsSql('not (0 = all (r.rows_written))');

const MOVE_DAYS = `
  with old as materialized (
    select span, starts_on, dataset, target_key, reason from ${tableText(runDays)} where span = 'day' and starts_on < $1
    order by starts_on limit ${MOVE_BATCH_SIZE} for update skip locked
  ), deleted as (
    delete from ${tableText(runDays)} r using old
    where (r.span, r.starts_on, r.dataset, r.target_key, r.reason)
      = (old.span, old.starts_on, old.dataset, old.target_key, old.reason) returning r.*
  ), counted as (
    insert into ${tableText(runDays)} as d (span, starts_on, dataset, target_key, reason, ${names})
    select 'month', date_trunc('month', g.starts_on)::date, g.dataset, g.target_key, g.reason,
      ${COUNTS.map((count) => `sum(g.${count})`).join(', ')}
    from deleted g group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    ${onConflict})
  select count(*)::int as moved from deleted`;

/** Retention of single runs, in ms. */
export interface RunRetention {
  /** Retention of runs that wrote no rows, in ms. */
  readonly keep: number;
  /** Retention of runs that wrote rows, in ms. */
  readonly keepWritten: number;
}

/**
 * Removes old runs, and adds them to counts by day, dataset, target and reason. One statement removes and
 * counts a batch. So no run is counted twice or lost, even if several processes run this function, or if the
 * work is stopped.
 * @param now ms since 1970; if the time of the database is earlier, that time is used
 * @param signal stops the work between two batches
 * @returns the number of removed runs
 */
export async function aggregateRuns(
  sql: postgres.Sql,
  now: number,
  { keep, keepWritten }: RunRetention,
  signal: AbortSignal,
): Promise<number> {
  const earlier = await readEarlierClock(sql, now);
  const before = (age: number) => new Date(earlier - age).toISOString();
  const empty = await moveAll(sql, MOVE_EMPTY_RUNS, before(keep), signal);
  const written = await moveAll(sql, MOVE_WRITTEN_RUNS, before(keepWritten), signal);
  const kept = new Date(earlier - DAILY_RETENTION_MS);
  const month = new Date(Date.UTC(kept.getUTCFullYear(), kept.getUTCMonth(), 1));
  await moveAll(sql, MOVE_DAYS, month.toISOString().slice(0, 10), signal);
  return empty + written;
}

async function moveAll(
  sql: postgres.Sql,
  statement: string,
  before: string,
  signal: AbortSignal,
): Promise<number> {
  let all = 0;
  while (!signal.aborted) {
    const [row] = await sql.unsafe<{ moved: number }[]>(statement, [before], { prepare: true });
    const moved = row?.moved ?? 0;
    all += moved;
    if (moved < MOVE_BATCH_SIZE) break;
  }
  return all;
}
