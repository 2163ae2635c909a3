import type postgres from 'postgres';
import { tableText } from '../db/orm.ts';
import { runDays, runs } from '../db/schema/bookkeeping.ts';

/** Maximum number of runs that one statement moves, so that it is short and blocks nothing. */
const MOVE_BATCH_SIZE = 2_000;
/** Time for which daily counts are kept, in ms. Older ones are aggregated by month. */
const DAILY_RETENTION_MS = 92 * 86_400_000;

const COUNTS = [
  'runs',
  'failed',
  'lost',
  'pages',
  'items',
  'requests',
  'budget_units',
  'quarantined',
] as const;
const names = COUNTS.join(', ');
const added = COUNTS.map((count) => `${count} = d.${count} + excluded.${count}`).join(', ');
const onConflict = `on conflict (span, starts_on, dataset, target_key, reason) do update set ${added}`;

/** Counts of a whole run belong to its first dataset, as in reporting.runs. */
const firstDatasetSql = (count: string) => `sum(case l.place when 1 then ${count} else 0 end)`;

const MOVE_RUNS = `
  with old as materialized (
    select run_id from ${tableText(runs)} where finished_at < $1 and 0 = all (rows_written)
    order by finished_at limit ${MOVE_BATCH_SIZE} for update skip locked
  ), gone as (
    delete from ${tableText(runs)} r using old where r.run_id = old.run_id returning r.*
  ), counted as (
    insert into ${tableText(runDays)} as d (span, starts_on, dataset, target_key, reason, ${names})
    select 'day', (g.started_at at time zone 'UTC')::date, l.dataset, g.target_key, g.reason, count(*),
      count(*) filter (where g.status = 'failed'), count(*) filter (where g.status = 'lost'), ${firstDatasetSql('g.pages')},
      sum(g.items[l.place]), ${firstDatasetSql('g.requests')}, ${firstDatasetSql('g.budget_units')}, ${firstDatasetSql('g.quarantined')}
    from gone g, unnest(g.datasets) with ordinality as l(dataset, place)
    -- In one order, so that two who do this at once never wait for each other in a circle.
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    ${onConflict})
  select count(*)::int as moved from gone`;

const MOVE_DAYS = `
  with old as materialized (
    select span, starts_on, dataset, target_key, reason from ${tableText(runDays)} where span = 'day' and starts_on < $1
    order by starts_on limit ${MOVE_BATCH_SIZE} for update skip locked
  ), gone as (
    delete from ${tableText(runDays)} r using old
    where (r.span, r.starts_on, r.dataset, r.target_key, r.reason)
      = (old.span, old.starts_on, old.dataset, old.target_key, old.reason) returning r.*
  ), counted as (
    insert into ${tableText(runDays)} as d (span, starts_on, dataset, target_key, reason, ${names})
    select 'month', date_trunc('month', g.starts_on)::date, g.dataset, g.target_key, g.reason,
      ${COUNTS.map((count) => `sum(g.${count})`).join(', ')}
    from gone g group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    ${onConflict})
  select count(*)::int as moved from gone`;

/**
 * Removes runs that ended longer ago than `keep` and wrote no rows, and adds them to counts by day, dataset,
 * target and reason. One statement removes and counts a batch. So no run is counted twice or lost, even if
 * several processes run this or it is stopped.
 * @param now ms since 1970
 * @param keep in ms
 * @param signal stops it between two batches
 * @returns the number of removed runs
 */
export async function aggregateRuns(
  sql: postgres.Sql,
  now: number,
  keep: number,
  signal: AbortSignal,
): Promise<number> {
  const runs = await moveAll(sql, MOVE_RUNS, new Date(now - keep).toISOString(), signal);
  const kept = new Date(now - DAILY_RETENTION_MS);
  const month = new Date(Date.UTC(kept.getUTCFullYear(), kept.getUTCMonth(), 1));
  await moveAll(sql, MOVE_DAYS, month.toISOString().slice(0, 10), signal);
  return runs;
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
