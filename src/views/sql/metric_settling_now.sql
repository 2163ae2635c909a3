create or replace view reporting.metric_settling_now as
with moves as (
  select metric, time_interval, chain_id, bucket_start,
    superseded_at - (bucket_start + case time_interval
      when 'hour' then interval '1 hour' when 'day' then interval '1 day'
      when 'week' then interval '7 days' else interval '1 month' end) as after
  from recorder.metric_points
  join recorder.metric_points_series using (series_id)
  where superseded_at is not null and not vanished
)
select metric, time_interval, count(*) as revisions, count(distinct (chain_id, bucket_start)) as points_revised,
  percentile_disc(0.5) within group (order by after) as half_moved_within,
  percentile_disc(0.99) within group (order by after) as settled_within,
  max(after) as latest_move
from moves
group by metric, time_interval;

comment on view reporting.metric_settling_now is 'How long the values of a metric keep moving after their hour, day, week or month has ended, measured from all revisions recorded up to now, however long that takes.';
comment on column reporting.metric_settling_now.metric is 'The metric.'; -- text
comment on column reporting.metric_settling_now.time_interval is 'hour, day, week or month.'; -- text
comment on column reporting.metric_settling_now.revisions is 'Revisions recorded.'; -- bigint
comment on column reporting.metric_settling_now.points_revised is 'Points that were revised at least once.'; -- bigint
comment on column reporting.metric_settling_now.half_moved_within is 'Half of the revisions came within this time after the end of the interval; negative: while it ran.'; -- interval
comment on column reporting.metric_settling_now.settled_within is '99 of 100 revisions came within this time after the end of the interval.'; -- interval
comment on column reporting.metric_settling_now.latest_move is 'The latest revision recorded came this long after the end of the interval.'; -- interval
