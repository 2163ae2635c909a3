create or replace view reporting.alerts as
select a.id, a.recorder, a.rule, a.subject, a.severity, a.state, a.summary, a.since, a.began_at, a.fired_at, a.resolved_at,
  a.flapping, a.acknowledged_at, a.acknowledged_by, a.note, a.details
from recorder.alerts a;

comment on view reporting.alerts is 'What rules of alerts said, from the first sign to the end: one row a time. What is not resolved is open.';
comment on column reporting.alerts.id is 'The alert.'; -- bigint
comment on column reporting.alerts.recorder is 'The recorder whose rule it is.'; -- text
comment on column reporting.alerts.rule is 'The rule: see docs/how-to/runbook.md.'; -- text
comment on column reporting.alerts.subject is 'What it is about, such as a node or a dataset.'; -- text
comment on column reporting.alerts.severity is 'info, warning or critical.'; -- text
comment on column reporting.alerts.state is 'pending (seen, but not for long enough to tell), firing, or resolved.'; -- text
comment on column reporting.alerts.summary is 'What the rule said last.'; -- text
comment on column reporting.alerts.since is 'Since when it is so by what is recorded; null: the rule does not say.'; -- timestamptz
comment on column reporting.alerts.began_at is 'When the rule found it first.'; -- timestamptz
comment on column reporting.alerts.fired_at is 'When the alert fired; null: not yet.'; -- timestamptz
comment on column reporting.alerts.resolved_at is 'When it was over; null: it is not.'; -- timestamptz
comment on column reporting.alerts.flapping is 'It came and went so often that it counts as over only after half an hour of quiet.'; -- boolean
comment on column reporting.alerts.acknowledged_at is 'When the alert was acknowledged; null: not acknowledged.'; -- timestamptz
comment on column reporting.alerts.acknowledged_by is 'Who did.'; -- text
comment on column reporting.alerts.note is 'What they said.'; -- text
comment on column reporting.alerts.details is 'What the rule knows besides.'; -- jsonb
