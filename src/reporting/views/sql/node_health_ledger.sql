create or replace view reporting_internal.node_health_ledger as
select h.observer, h.node, h.probe, h.check_name, h.state, h.started_at, h.ended_at, p.settled_until, h.reported, h.error,
  h.message,
  -- How an open interval is worded at the last is kept with its probe; with itself once it ended.
  coalesce(h.last_error, newest.words ->> 'error', h.error) as last_error,
  coalesce(h.last_message, newest.words -> 'message', h.message) as last_message,
  h.failing_since, coalesce(h.failures, (newest.words ->> 'failures')::bigint) as failures
from recorder.node_health h
join reporting_internal.node_probes p using (observer, node, probe)
cross join lateral (select case when h.ended_at is null then p.latest -> h.check_name end as words) newest;

comment on view reporting_internal.node_health_ledger is 'The ledger as it is stored: intervals run on beneath the times without probes (reporting.node_absences), which reporting.node_health_history cuts out.';
comment on column reporting_internal.node_health_ledger.observer is 'The recorder that looked.'; -- text
comment on column reporting_internal.node_health_ledger.node is 'The configured node.'; -- text
comment on column reporting_internal.node_health_ledger.probe is 'The probe.'; -- text
comment on column reporting_internal.node_health_ledger.check_name is 'A check of the node, or * for the probe as a whole.'; -- text
comment on column reporting_internal.node_health_ledger.state is 'up, down, unknown or maintenance (announced).'; -- text
comment on column reporting_internal.node_health_ledger.started_at is 'The first moment.'; -- timestamptz
comment on column reporting_internal.node_health_ledger.ended_at is 'When something else was said; null: it is still so.'; -- timestamptz
comment on column reporting_internal.node_health_ledger.settled_until is 'Up to here the ledger of the probe is settled.'; -- timestamptz
comment on column reporting_internal.node_health_ledger.reported is 'The node gave a report, so that its checks are known.'; -- boolean
comment on column reporting_internal.node_health_ledger.error is 'Why, in the first words.'; -- text
comment on column reporting_internal.node_health_ledger.message is 'What a failing check said beside its error, at first.'; -- jsonb
comment on column reporting_internal.node_health_ledger.last_error is 'Why, in the latest words.'; -- text
comment on column reporting_internal.node_health_ledger.last_message is 'What a failing check said beside its error, at the last.'; -- jsonb
comment on column reporting_internal.node_health_ledger.failing_since is 'Since when the check fails by the account of the node itself; can lie before the first look.'; -- timestamptz
comment on column reporting_internal.node_health_ledger.failures is 'How often it failed in a row by the count of the node itself, at the last.'; -- bigint
