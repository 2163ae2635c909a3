create or replace view reporting_internal.schedules as
select s.schedule, make_interval(secs => s.every_ms / 1000.0) as expected_every, s.next_at, s.missing_since, s.seen_at
from recorder.schedules s;

comment on view reporting_internal.schedules is 'The schedules that should be in the queue, as last observed by the process that runs them.';
comment on column reporting_internal.schedules.schedule is 'The name of the schedule.'; -- text
comment on column reporting_internal.schedules.expected_every is 'Interval of the schedule.'; -- interval
comment on column reporting_internal.schedules.next_at is 'Time of the next tick. Null: the queue did not contain the schedule.'; -- timestamptz
comment on column reporting_internal.schedules.missing_since is 'Time since which the queue lacks the schedule. Null: the queue contains the schedule.'; -- timestamptz
comment on column reporting_internal.schedules.seen_at is 'Time of the last observation of the queue.'; -- timestamptz
