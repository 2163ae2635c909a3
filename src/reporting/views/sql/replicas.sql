create or replace view reporting.replicas as
select r.place, r.recorder, r.lag_seconds, r.lag_bytes, r.error, r.error_since, r.behind_since, r.seen_at
from recorder.replicas r;

comment on view reporting.replicas is 'The replicas that pages, reports and exports read from (REPORTING_DATABASE_URL), as a process that reads there saw each last.';
comment on column reporting.replicas.place is 'Its host, port and database.'; -- text
comment on column reporting.replicas.recorder is 'The recorder that reads there, by name.'; -- text
comment on column reporting.replicas.lag_seconds is 'How far it was behind the primary, in seconds, exact to about five; null: that cannot be told.'; -- double precision
comment on column reporting.replicas.lag_bytes is 'How many bytes of WAL it had not replayed; null: that cannot be told.'; -- bigint
comment on column reporting.replicas.error is 'Why it is not, or should not be, read from; null: nothing is wrong with it.'; -- text
comment on column reporting.replicas.error_since is 'Since when; null: nothing is wrong with it.'; -- timestamptz
comment on column reporting.replicas.behind_since is 'Since when it is more than a minute behind; null: it is not.'; -- timestamptz
comment on column reporting.replicas.seen_at is 'When it was last looked at.'; -- timestamptz
