create or replace view reporting.alerts as
select a.id, a.recorder, a.rule, a.subject, a.severity, a.state, a.summary, a.since, a.began_at, a.fired_at, a.resolved_at,
  a.flapping, a.acknowledged_at, a.acknowledged_by, a.note, a.details
from recorder.alerts a;

comment on view reporting.alerts is 'Alerts of the rules: one row per occurrence, from the detection of the condition to the end. Alerts that are not resolved are open.';
comment on column reporting.alerts.id is 'The id of the alert.'; -- bigint
comment on column reporting.alerts.recorder is 'The recorder that evaluates the rule.'; -- text
comment on column reporting.alerts.rule is 'The rule of the alert: see docs/how-to/runbook.md.'; -- text
comment on column reporting.alerts.subject is 'The subject of the alert, such as a node or a dataset.'; -- text
comment on column reporting.alerts.severity is 'info, warning or critical.'; -- text
comment on column reporting.alerts.state is 'pending (the condition has not lasted long enough yet), firing, or resolved.'; -- text
comment on column reporting.alerts.summary is 'The latest summary of the rule.'; -- text
comment on column reporting.alerts.since is 'Start of the condition according to the recorded data. Null: the rule does not report the start.'; -- timestamptz
comment on column reporting.alerts.began_at is 'Time at which the rule first found the condition.'; -- timestamptz
comment on column reporting.alerts.fired_at is 'Time at which the alert fired. Null: the alert has not fired.'; -- timestamptz
comment on column reporting.alerts.resolved_at is 'Time at which the alert was resolved. Null: the alert is open.'; -- timestamptz
comment on column reporting.alerts.flapping is 'True if the alert fired so often that it is resolved only after half an hour without the condition.'; -- boolean
comment on column reporting.alerts.acknowledged_at is 'Time at which the alert was acknowledged. Null: not acknowledged.'; -- timestamptz
comment on column reporting.alerts.acknowledged_by is 'The person who acknowledged the alert.'; -- text
comment on column reporting.alerts.note is 'The note of the acknowledgement.'; -- text
comment on column reporting.alerts.details is 'Further values that the rule reports.'; -- jsonb
