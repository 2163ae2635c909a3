create or replace view reporting.change_sinks as
select s.recorder, s.sink, s.cursor, s.sent, s.since, s.sent_at, (
    select c.made_at from reporting.change_commits c
    where c.commit_number >= coalesce(s.commit_number, 0) and c.cursor is distinct from s.cursor
    order by c.commit_number limit 1) as waiting_since,
  s.failing_since, s.failures, s.error
from recorder.change_sinks s;

comment on view reporting.change_sinks is 'Who is sent changes, and how far each is.';
comment on column reporting.change_sinks.recorder is 'The recorder that sends them.'; -- text
comment on column reporting.change_sinks.sink is 'The sink.'; -- text
comment on column reporting.change_sinks.cursor is 'The last change that it took (reporting.changes); null: none yet.'; -- text
comment on column reporting.change_sinks.sent is 'How many changes it took.'; -- bigint
comment on column reporting.change_sinks.since is 'Since when there is a sink of this name.'; -- timestamptz
comment on column reporting.change_sinks.sent_at is 'When it last got on.'; -- timestamptz
comment on column reporting.change_sinks.waiting_since is 'When the first change was made that it has not taken; null: it has all.'; -- timestamptz
comment on column reporting.change_sinks.failing_since is 'Since when it takes nothing; null: it does.'; -- timestamptz
comment on column reporting.change_sinks.failures is 'How often in a row.'; -- integer
comment on column reporting.change_sinks.error is 'Why, at the last attempt.'; -- text
