import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import { metricIntervals, metricPoints } from '../../datasets/metrics/metric-points.ts';
import { ormOf } from '../../db/orm.ts';
import { targetDatasets, targets } from '../../db/schema/bookkeeping.ts';
import { toErrorMessage } from '../../lib/errors.ts';
import { groupBy } from '../../lib/group-by.ts';
import { findLevelShifts } from './breaks.ts';
import { SUBJECT_CHAIN } from './check-columns.ts';
import { CHECK_METRICS, METRIC_DAYS_SQL } from './metric-checks.ts';
import { nodeComparisons } from './node-checks.ts';

const DAY = 86_400_000;
/**
 * Minimum time after the end of a bucket until its value is compared, in ms. The minimum applies even if a
 * shorter settling time was measured.
 */
const MIN_SETTLING_MS = 2 * DAY;
/**
 * Maximum settling time, in ms. Without a maximum, a service that once revised its whole history would no
 * longer be compared.
 */
const MAX_SETTLING_MS = 14 * DAY;
/**
 * Length of the period before the last comparison whose readings are compared again, in ms. Some of these
 * readings were stored after the last comparison, by runs that were still in progress.
 */
const REREAD_MS = DAY;
/**
 * Maximum number of revisions for which `reporting.metric_settling` is computed by each query. For a larger
 * number, the result is stored, because the computation takes about 50 ms for 50,000 revisions.
 */
const MAX_UNCACHED_REVISIONS = 50_000;
/** The scope of the nodes. Every other scope is the id of a chain. */
const NODES = 'nodes';

/** The result of comparing all sources. */
export interface Comparison {
  readonly scopes: number;
  readonly discrepancies: number;
  /** Number of discrepancies that this comparison found for the first time. */
  readonly discovered: number;
  readonly breaks: number;
  /** Scopes that could not be compared, with the reason. All others were compared. */
  readonly failed: readonly { readonly scope: string; readonly error: string }[];
}

/**
 * Compares values that several sources report for the same entity. Stores disagreements in
 * `reporting.discrepancies`, and level shifts in `reporting.series_breaks`. The result depends only on the
 * recorded data, so a second call changes nothing. If a scope (the nodes, or the metrics of a chain) fails,
 * the reason is stored in `reporting_internal.check_runs`, and the other scopes continue.
 * @param now in ms since 1970
 * @param signal stops the work between two scopes
 */
export async function compareSources(
  sql: postgres.Sql,
  now: number,
  signal: AbortSignal,
): Promise<Comparison> {
  const watched = groupBy(await listWatchedSeries(sql), ({ chain }) => chain);
  const scopes = [NODES, ...watched.keys()];
  await retireRemovedScopes(sql, scopes, now);
  const series = watched.size > 0 ? await seriesOf(sql, now) : [];
  const failed: { scope: string; error: string }[] = [];
  let discrepancies = 0;
  let breaks = 0;
  for (const scope of scopes) {
    if (signal.aborted) break;
    const began = performance.now();
    try {
      if (scope === NODES) discrepancies += await compareNodes(sql, now);
      else {
        const compared = series.filter((one) =>
          watched.get(scope)?.some((other) => isSameSeries(one, other)),
        );
        discrepancies += await compareMetrics(sql, scope, compared, now);
        breaks += await findBreaks(sql, scope, series, now);
      }
      await noteDone(sql, scope, now, Math.round(performance.now() - began));
    } catch (error) {
      if (signal.aborted) break;
      failed.push({ scope, error: toErrorMessage(error) });
      await noteFailed(sql, scope, now, toErrorMessage(error));
    }
  }
  const [fresh] = await sql<{ discovered: number }[]>`
    select count(*)::int as discovered from recorder.discrepancies where found_at = ${instant(now)} and ended_at is null`;
  return { scopes: scopes.length, discrepancies, discovered: fresh?.discovered ?? 0, breaks, failed };
}

/** A metric and its interval. */
type MetricSeries = {
  readonly metric: string;
  readonly time_interval: string;
};

const isSameSeries = (one: MetricSeries, other: MetricSeries) =>
  one.metric === other.metric && one.time_interval === other.time_interval;

/** Returns the series that the configuration contains now, by chain. */
const listWatchedSeries = (sql: postgres.Sql) =>
  ormOf(sql).execute<MetricSeries & { chain: string }>(expression`
    select t.target ->> 'chainId' as chain, t.target ->> 'metric' as metric, t.target ->> 'timeInterval' as time_interval
    from ${targets} t join ${targetDatasets} d using (source, target_key)
    where d.dataset = ${metricPoints.name} and d.active order by 1`);

/** Removes the state of scopes that are no longer compared, and ends their discrepancies. */
async function retireRemovedScopes(sql: postgres.Sql, scopes: readonly string[], now: number): Promise<void> {
  await sql`delete from recorder.check_runs where scope <> all (${scopes})`;
  await sql`
    update recorder.discrepancies set ended_at = ${instant(now)}
    where ended_at is null and ${sql.unsafe(SUBJECT_CHAIN)} <> all (${scopes})`;
}

/** A series with two durations, in seconds. */
interface ComparedSeries extends MetricSeries {
  /** The measured settling time of values. */
  readonly settles: number;
  /** The range that every poll requests. */
  readonly head: number;
}

/** Returns all series. */
async function seriesOf(sql: postgres.Sql, now: number): Promise<ComparedSeries[]> {
  const measured = await measureSettling(sql, now);
  return Object.entries(metricIntervals).flatMap(([metric, intervals]) =>
    intervals.map((time_interval) => {
      const series = { metric, time_interval };
      const settled = measured.find((one) => isSameSeries(one, series))?.settled ?? 0;
      return {
        ...series,
        settles: Math.min(Math.max(settled, MIN_SETTLING_MS), MAX_SETTLING_MS) / 1000,
        head:
          (metricPoints.source.range?.head({ chainId: '', metric, timeInterval: time_interval }) ?? 0) / 1000,
      };
    }),
  );
}

/**
 * Measures the settling times of metrics. If there are many revisions, stores the result for readers until
 * the next call.
 * @param now in ms since 1970
 */
export const measureSettling = (sql: postgres.Sql, now: number) =>
  sql<{ metric: string; time_interval: string; settled: number }[]>`
    with measured as materialized (
      select *, sum(revisions) over () > ${MAX_UNCACHED_REVISIONS}::int as many from reporting.metric_settling_of(null)
    ), deleted as (
      delete from recorder.metric_settling k where not exists (
        select from measured m where (m.metric, m.time_interval) = (k.metric, k.time_interval) and m.many)
    ), kept as (
      insert into recorder.metric_settling as k
        (metric, time_interval, revisions, points_revised, half_moved_within, settled_within, latest_move, measured_at)
      select metric, time_interval, revisions, points_revised, half_moved_within, settled_within, latest_move, ${instant(now)}
      from measured where many
      on conflict (metric, time_interval) do update set revisions = excluded.revisions, points_revised = excluded.points_revised,
        half_moved_within = excluded.half_moved_within, settled_within = excluded.settled_within,
        latest_move = excluded.latest_move, measured_at = excluded.measured_at
    )
    select metric, time_interval, extract(epoch from settled_within)::float8 * 1000 as settled from measured`;

async function compareMetrics(
  sql: postgres.Sql,
  chain: string,
  series: readonly ComparedSeries[],
  now: number,
): Promise<number> {
  const [row] = await sql.unsafe<{ found: number }[]>(CHECK_METRICS, [
    chain,
    JSON.stringify(series),
    instant(now),
  ]);
  return row?.found ?? 0;
}

async function compareNodes(sql: postgres.Sql, now: number): Promise<number> {
  const [last] = await sql<{ checked_at: Date | null }[]>`
    select checked_at from recorder.check_runs where scope = ${NODES}`;
  const since = last?.checked_at ? instant(last.checked_at.getTime() - REREAD_MS) : null;
  let found = 0;
  for (const { statement } of nodeComparisons) {
    const [row] = await sql.unsafe<{ found: number }[]>(
      statement,
      statement.includes('$2') ? [instant(now), since] : [instant(now)],
    );
    found += row?.found ?? 0;
  }
  return found;
}

async function findBreaks(
  sql: postgres.Sql,
  chain: string,
  series: readonly ComparedSeries[],
  now: number,
): Promise<number> {
  const days = await sql.unsafe<{ metric: string; at: number; value: number }[]>(METRIC_DAYS_SQL, [
    chain,
    JSON.stringify(series),
  ]);
  const breaks = [...groupBy(days, ({ metric }) => metric)].flatMap(([metric, points]) =>
    findLevelShifts(points).map((one) => ({ metric, ...one })),
  );
  const rows = JSON.stringify(breaks.map((one) => ({ ...one, at: instant(one.at) })));
  await sql`
    with found as materialized (
      select * from jsonb_to_recordset(${rows}::text::jsonb) as b(metric text, at timestamptz, before numeric, after numeric, strength numeric)
    ), deleted as (
      delete from recorder.series_breaks b where b.chain_id = ${chain}
        and not exists (select from found f where (f.metric, f.at) = (b.metric, b.broke_at)))
    insert into recorder.series_breaks as b (chain_id, metric, broke_at, level_before, level_after, strength, found_at)
    select ${chain}, metric, at, before, after, round(strength, 1), ${instant(now)} from found
    on conflict (chain_id, metric, broke_at) do update set level_before = excluded.level_before,
      level_after = excluded.level_after, strength = excluded.strength
    where (b.level_before, b.level_after, b.strength) is distinct from
      (excluded.level_before, excluded.level_after, excluded.strength)`;
  return breaks.length;
}

async function noteDone(sql: postgres.Sql, scope: string, now: number, took: number): Promise<void> {
  await sql`
    insert into recorder.check_runs (scope, checked_at, duration_ms) values (${scope}, ${instant(now)}, ${took})
    on conflict (scope) do update set checked_at = excluded.checked_at, duration_ms = excluded.duration_ms, failed_since = null, error = null`;
}

async function noteFailed(sql: postgres.Sql, scope: string, now: number, error: string): Promise<void> {
  await sql`
    insert into recorder.check_runs as r (scope, failed_since, error) values (${scope}, ${instant(now)}, ${error})
    on conflict (scope) do update set failed_since = coalesce(r.failed_since, excluded.failed_since), error = excluded.error`;
}

const instant = (ms: number) => new Date(ms).toISOString();
