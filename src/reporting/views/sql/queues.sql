create or replace view reporting_internal.queues as
select q.queue, q.recorder, q.waiting, q.active, q.error, q.error_since, q.seen_at
from recorder.queues q;

comment on view reporting_internal.queues is 'The queues, as last observed by the process that runs the schedules.';
comment on column reporting_internal.queues.queue is 'Name of the queue: polls (polls and plans), or heals.'; -- text
comment on column reporting_internal.queues.recorder is 'Name of the recorder of the queue.'; -- text
comment on column reporting_internal.queues.waiting is 'Number of waiting and delayed jobs. Null: the queue never responded.'; -- bigint
comment on column reporting_internal.queues.active is 'Number of active jobs. Null: the queue never responded.'; -- bigint
comment on column reporting_internal.queues.error is 'Reason why no jobs are started. Null: no problem.'; -- text
comment on column reporting_internal.queues.error_since is 'Start of the problem. Null: no problem.'; -- timestamptz
comment on column reporting_internal.queues.seen_at is 'Time of the last observation.'; -- timestamptz
