create or replace function reporting.metric_settling_of(
  metric text, -- This metric, such as txCount; null: each that is recorded.
  time_interval text default null, -- hour, day, week or month; null: each that is recorded.
  chain_id text default null -- Of this chain; null: all chains together.
)
returns table (
  metric text, -- The metric.
  time_interval text, -- hour, day, week or month.
  revisions bigint, -- Revisions recorded.
  points_revised bigint, -- Points that were revised at least once.
  half_moved_within interval, -- Half of the revisions came within this time after the end of the interval; negative: while it ran.
  settled_within interval, -- 99 of 100 revisions came within this time after the end of the interval.
  latest_move interval -- The latest revision recorded came this long after the end of the interval.
)
language sql stable parallel safe as $$
with series as (
  select s.series_id, s.metric, s.time_interval,
    case s.time_interval
      when 'hour' then interval '1 hour' when 'day' then interval '1 day'
      when 'week' then interval '7 days' else interval '1 month' end as length
  from reporting_internal.metric_points_series s
  where (metric_settling_of.metric is null or s.metric = metric_settling_of.metric)
    and (metric_settling_of.time_interval is null or s.time_interval = metric_settling_of.time_interval)
    and (metric_settling_of.chain_id is null or s.chain_id = metric_settling_of.chain_id)
),
-- Series by series, so that the index of revisions is enough.
counted as (
  select s.metric, s.time_interval, sum(r.revisions)::bigint as revisions, sum(r.points)::bigint as points_revised
  from series s
  cross join lateral (
    select count(*) as revisions, count(distinct p.bucket_start) as points
    from reporting_internal.metric_points_replaced p
    where p.series_id = s.series_id) r
  group by s.metric, s.time_interval
),
moved as (
  select s.metric, s.time_interval, percentile_disc(array[0.5, 0.99]) within group (order by m.after) as within, max(m.after) as latest
  from series s
  join reporting_internal.metric_points_replaced p using (series_id)
  cross join lateral (select p.superseded_at - (p.bucket_start at time zone 'UTC' + s.length) at time zone 'UTC' as after) m
  group by s.metric, s.time_interval
)
select c.metric, c.time_interval, c.revisions, c.points_revised, m.within[1], m.within[2], m.latest
from counted c
join moved m using (metric, time_interval)
order by c.metric, c.time_interval
$$;

comment on function reporting.metric_settling_of is 'How long the values of a metric keep moving after their hour, day, week or month has ended, measured from all revisions recorded up to now: of one metric and chain at once, of millions of revisions in seconds.';
