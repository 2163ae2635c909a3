create or replace view reporting.metric_settling as
select metric, time_interval, revisions, points_revised, half_moved_within, settled_within, latest_move, measured_at
from recorder.metric_settling
union all
select metric, time_interval, revisions, points_revised, half_moved_within, settled_within, latest_move, now() as measured_at
from reporting.metric_settling_of(null)
where not exists (select from recorder.metric_settling);

comment on view reporting.metric_settling is 'How long the values of a metric keep moving after their hour, day, week or month has ended, measured from the revisions recorded: of many once an hour, with the comparison of the sources.';
comment on column reporting.metric_settling.metric is 'The metric.'; -- text
comment on column reporting.metric_settling.time_interval is 'hour, day, week or month.'; -- text
comment on column reporting.metric_settling.revisions is 'Revisions recorded.'; -- bigint
comment on column reporting.metric_settling.points_revised is 'Points that were revised at least once.'; -- bigint
comment on column reporting.metric_settling.half_moved_within is 'Half of the revisions came within this time after the end of the interval; negative: while it ran.'; -- interval
comment on column reporting.metric_settling.settled_within is '99 of 100 revisions came within this time after the end of the interval.'; -- interval
comment on column reporting.metric_settling.latest_move is 'The latest revision recorded came this long after the end of the interval.'; -- interval
comment on column reporting.metric_settling.measured_at is 'When it was measured.'; -- timestamptz
