create or replace view reporting_internal.change_sinks as
select s.recorder, s.sink, s.cursor, s.sent, s.since, s.sent_at, (
    select c.made_at from reporting.change_commits c
    where c.commit_number >= coalesce(s.commit_number, 0) and c.cursor is distinct from s.cursor
    order by c.commit_number limit 1) as waiting_since,
  s.failing_since, s.failures, s.error
from recorder.change_sinks s;

comment on view reporting_internal.change_sinks is 'The sinks of the change feed, and the progress of each sink.';
comment on column reporting_internal.change_sinks.recorder is 'The recorder that sends the changes.'; -- text
comment on column reporting_internal.change_sinks.sink is 'The sink.'; -- text
comment on column reporting_internal.change_sinks.cursor is 'The cursor of the last change that the sink accepted (reporting.changes). Null: the sink has accepted no change.'; -- text
comment on column reporting_internal.change_sinks.sent is 'Number of changes that the sink accepted.'; -- bigint
comment on column reporting_internal.change_sinks.since is 'Time at which a sink of this name was first configured.'; -- timestamptz
comment on column reporting_internal.change_sinks.sent_at is 'Time of the last progress of the sink.'; -- timestamptz
comment on column reporting_internal.change_sinks.waiting_since is 'Time of the first change that the sink has not accepted. Null: the sink has accepted all changes.'; -- timestamptz
comment on column reporting_internal.change_sinks.failing_since is 'Start of the consecutive failures. Null: the last attempt succeeded.'; -- timestamptz
comment on column reporting_internal.change_sinks.failures is 'Number of consecutive failures.'; -- integer
comment on column reporting_internal.change_sinks.error is 'Error of the last failed attempt.'; -- text
