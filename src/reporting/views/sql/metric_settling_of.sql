create or replace function reporting.metric_settling_of(
  metric text, -- The metric, such as txCount. Null: all recorded metrics.
  time_interval text default null, -- Null: all recorded intervals.
  chain_id text default null -- Returns only this chain. Null: all chains together.
)
returns table (
  metric text, -- The metric, such as txCount.
  time_interval text, -- hour, day, week or month.
  revisions bigint, -- Number of recorded revisions.
  points_revised bigint, -- Number of points that were revised at least once.
  half_moved_within interval, -- Time after the end of the interval within which half of the revisions were recorded. Negative: before the end.
  settled_within interval, -- Time after the end of the interval within which 99 of 100 revisions were recorded.
  latest_move interval -- Time from the end of the interval to the latest recorded revision.
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
-- Each series is counted separately, so that PostgreSQL reads only the index of revisions.
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
  cross join lateral (select p.valid_to - (p.bucket_start at time zone 'UTC' + s.length) at time zone 'UTC' as after) m
  group by s.metric, s.time_interval
)
select c.metric, c.time_interval, c.revisions, c.points_revised, m.within[1], m.within[2], m.latest
from counted c
join moved m using (metric, time_interval)
order by c.metric, c.time_interval
$$;

comment on function reporting.metric_settling_of is 'Time for which the values of a metric keep changing after their hour, day, week or month has ended, measured from all revisions recorded up to now. One metric and chain takes little time; millions of revisions take seconds.';
