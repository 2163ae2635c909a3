create or replace view reporting.metric_settling as
select metric, time_interval, revisions, points_revised, half_moved_within, settled_within, latest_move, measured_at
from recorder.metric_settling
union all
select metric, time_interval, revisions, points_revised, half_moved_within, settled_within, latest_move, now() as measured_at
from reporting.metric_settling_of(null)
where not exists (select from recorder.metric_settling);

comment on view reporting.metric_settling is 'Time for which the values of a metric keep changing after their hour, day, week or month has ended, measured from the recorded revisions. If there are many revisions, this time is measured once an hour, with the comparison of the sources.';
comment on column reporting.metric_settling.metric is 'The metric.'; -- text
comment on column reporting.metric_settling.time_interval is 'hour, day, week or month.'; -- text
comment on column reporting.metric_settling.revisions is 'Number of recorded revisions.'; -- bigint
comment on column reporting.metric_settling.points_revised is 'Number of points that were revised at least once.'; -- bigint
comment on column reporting.metric_settling.half_moved_within is 'Time after the end of the interval within which half of the revisions were recorded. Negative: before the end.'; -- interval
comment on column reporting.metric_settling.settled_within is 'Time after the end of the interval within which 99 of 100 revisions were recorded.'; -- interval
comment on column reporting.metric_settling.latest_move is 'Time from the end of the interval to the latest recorded revision.'; -- interval
comment on column reporting.metric_settling.measured_at is 'Time of the measurement.'; -- timestamptz
