create or replace view reporting.check_runs as
select r.scope, r.checked_at, make_interval(secs => r.took_ms / 1000.0) as took, r.failed_since, r.error
from recorder.check_runs r;

comment on view reporting.check_runs is 'When the sources were last compared with each other, and whether that works.';
comment on column reporting.check_runs.scope is 'nodes: what nodes say, with each other and with the data service; else the chain whose metrics are compared.'; -- text
comment on column reporting.check_runs.checked_at is 'When everything of it was last compared; null: never.'; -- timestamptz
comment on column reporting.check_runs.took is 'How long that took.'; -- interval
comment on column reporting.check_runs.failed_since is 'Since when it fails; null: it does not.'; -- timestamptz
comment on column reporting.check_runs.error is 'Why it fails.'; -- text
