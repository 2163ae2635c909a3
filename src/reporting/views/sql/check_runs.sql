create or replace view reporting_internal.check_runs as
select r.scope, r.checked_at, make_interval(secs => r.duration_ms / 1000.0) as duration, r.failed_since, r.error
from recorder.check_runs r;

comment on view reporting_internal.check_runs is 'The last comparison of the sources, and its errors.';
comment on column reporting_internal.check_runs.scope is 'nodes: comparisons of nodes with each other and with the data service; otherwise the chain whose metrics are compared.'; -- text
comment on column reporting_internal.check_runs.checked_at is 'Time of the last complete comparison. Null: no comparison was complete.'; -- timestamptz
comment on column reporting_internal.check_runs.duration is 'Duration of the last complete comparison.'; -- interval
comment on column reporting_internal.check_runs.failed_since is 'Start of the consecutive failures. Null: the last comparison succeeded.'; -- timestamptz
comment on column reporting_internal.check_runs.error is 'Error of the last failed comparison.'; -- text
