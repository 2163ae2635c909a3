create or replace view reporting.alert_messages as
select m.id, m.recorder, m.channel, m.rule, m.kind, m.severity, to_jsonb(m.alerts) as alerts, m.made_at, m.state, m.attempts, m.sent_at, m.error
from recorder.alert_messages m;

comment on view reporting.alert_messages is 'Messages about alerts that were sent to channels or wait to be sent.';
comment on column reporting.alert_messages.id is 'The message.'; -- bigint
comment on column reporting.alert_messages.recorder is 'The recorder that reports the alert.'; -- text
comment on column reporting.alert_messages.channel is 'The channel.'; -- text
comment on column reporting.alert_messages.rule is 'The rule of its alerts.'; -- text
comment on column reporting.alert_messages.kind is 'firing, resolved, reminder or acknowledged.'; -- text
comment on column reporting.alert_messages.severity is 'The heaviest of its alerts.'; -- text
comment on column reporting.alert_messages.alerts is 'Its alerts, by id.'; -- jsonb
comment on column reporting.alert_messages.made_at is 'When it was decided.'; -- timestamptz
comment on column reporting.alert_messages.state is 'waiting, sent, refused (the channel does not take it) or dropped (it waited too long, or the channel is gone).'; -- text
comment on column reporting.alert_messages.attempts is 'How often it was tried.'; -- integer
comment on column reporting.alert_messages.sent_at is 'When the channel took it; null: it did not.'; -- timestamptz
comment on column reporting.alert_messages.error is 'Why it did not at the last attempt.'; -- text
