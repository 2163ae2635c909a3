create or replace view reporting_internal.replicas as
select r.replica, r.recorder, r.lag_seconds, r.lag_bytes, r.error, r.error_since, r.behind_since, r.seen_at
from recorder.replicas r;

comment on view reporting_internal.replicas is 'The replicas that pages, reports and exports read from (REPORTING_DATABASE_URL), as last observed by a process that reads from them.';
comment on column reporting_internal.replicas.replica is 'Host, port and database of the replica.'; -- text
comment on column reporting_internal.replicas.recorder is 'Name of the recorder that reads from the replica.'; -- text
comment on column reporting_internal.replicas.lag_seconds is 'Lag behind the primary in seconds, accurate to about 5 seconds. Null: unknown.'; -- double precision
comment on column reporting_internal.replicas.lag_bytes is 'Bytes of WAL that the replica had not replayed. Null: unknown.'; -- bigint
comment on column reporting_internal.replicas.error is 'Reason why the replica is not, or should not be, read from. Null: no problem.'; -- text
comment on column reporting_internal.replicas.error_since is 'Start of the problem. Null: no problem.'; -- timestamptz
comment on column reporting_internal.replicas.behind_since is 'Time since which the replica lags by more than a minute. Null: no such lag.'; -- timestamptz
comment on column reporting_internal.replicas.seen_at is 'Time of the last observation.'; -- timestamptz
