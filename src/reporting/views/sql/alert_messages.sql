create or replace view reporting_internal.alert_messages as
select m.id, m.recorder, m.channel, m.rule, m.kind, m.severity, to_jsonb(m.alerts) as alerts, m.made_at, m.state, m.attempts, m.sent_at, m.error
from recorder.alert_messages m;

comment on view reporting_internal.alert_messages is 'Messages about alerts that were sent to channels or wait to be sent.';
comment on column reporting_internal.alert_messages.id is 'The id of the message.'; -- bigint
comment on column reporting_internal.alert_messages.recorder is 'The recorder that reports the alert.'; -- text
comment on column reporting_internal.alert_messages.channel is 'The channel.'; -- text
comment on column reporting_internal.alert_messages.rule is 'The rule of the alerts in the message.'; -- text
comment on column reporting_internal.alert_messages.kind is 'firing, resolved, unwatched (the rule or subject was removed from the configuration), reminder or acknowledged.'; -- text
comment on column reporting_internal.alert_messages.severity is 'The highest severity of the alerts in the message.'; -- text
comment on column reporting_internal.alert_messages.alerts is 'The alerts in the message, by id.'; -- jsonb
comment on column reporting_internal.alert_messages.made_at is 'Time at which the message was created.'; -- timestamptz
comment on column reporting_internal.alert_messages.state is 'waiting, sent, refused (the channel rejected the message) or dropped (the message expired, or its channel was removed).'; -- text
comment on column reporting_internal.alert_messages.attempts is 'Number of attempts to send the message.'; -- integer
comment on column reporting_internal.alert_messages.sent_at is 'Time at which the channel accepted the message. Null: not accepted.'; -- timestamptz
comment on column reporting_internal.alert_messages.error is 'Error of the last failed attempt.'; -- text
