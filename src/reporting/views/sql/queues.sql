create or replace view reporting.queues as
select q.queue, q.recorder, q.waiting, q.active, q.error, q.error_since, q.seen_at
from recorder.queues q;

comment on view reporting.queues is 'The queues, as last seen by the process that holds the schedules.';
comment on column reporting.queues.queue is 'polls (with plans), or heals.'; -- text
comment on column reporting.queues.recorder is 'The recorder that it belongs to, by name.'; -- text
comment on column reporting.queues.waiting is 'Jobs that wait, for their turn or their time; null: it never gave an answer.'; -- bigint
comment on column reporting.queues.active is 'Jobs at work; null: it never gave an answer.'; -- bigint
comment on column reporting.queues.error is 'Why nothing is taken out of it; null: nothing is wrong with it.'; -- text
comment on column reporting.queues.error_since is 'Since when; null: nothing is wrong with it.'; -- timestamptz
comment on column reporting.queues.seen_at is 'When it was last looked at.'; -- timestamptz
