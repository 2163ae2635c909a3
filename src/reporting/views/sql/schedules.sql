create or replace view reporting_internal.schedules as
select s.schedule, make_interval(secs => s.every_ms / 1000.0) as expected_every, s.next_at, s.missing_since, s.seen_at
from recorder.schedules s;

comment on view reporting_internal.schedules is 'The schedules that should be in the queue, as last seen by the process that holds them.';
comment on column reporting_internal.schedules.schedule is 'The schedule.'; -- text
comment on column reporting_internal.schedules.expected_every is 'How often it ticks.'; -- interval
comment on column reporting_internal.schedules.next_at is 'When it ticks next; null: the queue did not have it.'; -- timestamptz
comment on column reporting_internal.schedules.missing_since is 'Since when the queue does not have it; null: it does.'; -- timestamptz
comment on column reporting_internal.schedules.seen_at is 'When the queue was last looked at.'; -- timestamptz
