import type postgres from 'postgres';
import { metricIntervals } from '../../src/datasets/metrics/metric-points.ts';
import { chains } from './configuration.ts';
import { withoutIndexes } from './without-indexes.ts';

const YEAR = 365 * 86_400;
const STEPS: Readonly<Record<string, number>> = { hour: 3_600, day: 86_400, week: 604_800, month: 2_629_800 };

/**
 * Writes points of every series of the configured chains, in the order in which they were recorded: points older than a
 * year were recorded on the first day, the others as they appeared. About every second point of the year was revised
 * once within two days, so that ten million points have a million revisions; a few vanished.
 */
export async function fillMetrics(
  sql: postgres.Sql,
  points: number,
): Promise<{ readonly now: number; readonly revised: number }> {
  const series = Object.entries(metricIntervals).flatMap(([metric, intervals]) =>
    intervals.map((interval) => ({ metric, interval, step: STEPS[interval] ?? YEAR })),
  );
  const perYear = chains.length * series.reduce((sum, { step }) => sum + YEAR / step, 0);
  await sql`
    insert into recorder.metric_points_series (chain_id, metric, time_interval)
    select * from unnest(${[...chains]}::text[]) chain_id cross join unnest(${series.map(({ metric }) => metric)}::text[],
      ${series.map(({ interval }) => interval)}::text[])`;
  await withoutIndexes(sql, 'metric_points', () =>
    sql.unsafe(
      `insert into recorder.metric_points
        (series_id, bucket_start, value, valid_from, valid_to, vanished, run_id)
      with points as (
        select c.chain_id, s.metric, s.time_interval, b.at, s.step,
          -- A number that looks like chance, the same in every run.
          hashint8extended((extract(epoch from b.at) * 1000)::bigint, hashtext(c.chain_id || s.metric || s.time_interval)) as chance,
          greatest(b.at + make_interval(secs => s.step) + interval '5 minutes', now() - interval '1 year') as reported_at
        from unnest($1::text[]) c(chain_id),
          unnest($2::text[], $3::text[], $4::int[]) s(metric, time_interval, step),
          generate_series(date_trunc('hour', now()) - make_interval(secs => $5::float8), now() - make_interval(secs => s.step),
            make_interval(secs => s.step)) b(at)
      ),
      revised as (
        select *, case when reported_at > now() - interval '1 year' and reported_at < now() - interval '2 days' and chance % 100 > -4
          then reported_at + (1 + abs(chance % 47)) * interval '1 hour' end as revised_at
        from points
      )
      select n.series_id, p.at, v.value, v.since, v.until, v.vanished, 1 + abs(chance % 500000)
      from revised p join recorder.metric_points_series n using (chain_id, metric, time_interval)
      cross join lateral (
        select 1000000 + abs(chance % 100000), p.reported_at, p.revised_at, false where p.revised_at is not null
        union all
        select 1000000 + abs(chance % 100000) + (p.revised_at is not null)::int * 50, coalesce(p.revised_at, p.reported_at),
          case when chance % 10000 = 1 then coalesce(p.revised_at, p.reported_at) + interval '1 day' end, chance % 10000 = 1
      ) as v(value, since, until, vanished)
      -- A version that ended was moved when it did.
      order by coalesce(v.until, v.since), p.chain_id, p.metric, p.time_interval, p.at`,
      [
        chains,
        series.map(({ metric }) => metric),
        series.map(({ interval }) => interval),
        series.map(({ step }) => step),
        (points / perYear) * YEAR,
      ],
    ),
  );
  const [row] = await sql<{ now: number; revised: number }[]>`
    select count(*) filter (where valid_to is null or vanished)::int as now,
      count(*) filter (where valid_to is not null and not vanished)::int as revised
    from recorder.metric_points`;
  return row ?? { now: 0, revised: 0 };
}
