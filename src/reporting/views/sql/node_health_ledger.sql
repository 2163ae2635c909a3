create or replace view reporting_internal.node_health_ledger as
select h.observer, h.node, h.probe, h.check_name, h.state, h.started_at, h.ended_at, p.settled_until, h.reported, h.error,
  h.message,
  -- The latest message is stored with the probe while the interval is open, and with the interval after its end.
  coalesce(h.last_error, newest.words ->> 'error', h.error) as last_error,
  coalesce(h.last_message, newest.words -> 'message', h.message) as last_message,
  h.failing_since, coalesce(h.failures, (newest.words ->> 'failures')::bigint) as failures
from recorder.node_health h
join reporting_internal.node_probes p using (observer, node, probe)
cross join lateral (select case when h.ended_at is null then p.latest -> h.check_name end as words) newest;

comment on view reporting_internal.node_health_ledger is 'The ledger as stored. Its intervals continue during times without probes (reporting_internal.node_absences), which reporting.node_health_history excludes.';
comment on column reporting_internal.node_health_ledger.observer is 'The observer: the name of its recorder.'; -- text
comment on column reporting_internal.node_health_ledger.node is 'The configured node.'; -- text
comment on column reporting_internal.node_health_ledger.probe is 'The probe.'; -- text
comment on column reporting_internal.node_health_ledger.check_name is 'Name of a check of the node, or * for the probe as a whole.'; -- text
comment on column reporting_internal.node_health_ledger.state is 'up, down, unknown or maintenance (announced).'; -- text
comment on column reporting_internal.node_health_ledger.started_at is 'Start of the interval.'; -- timestamptz
comment on column reporting_internal.node_health_ledger.ended_at is 'Time of the next different state. Null: the interval has not ended.'; -- timestamptz
comment on column reporting_internal.node_health_ledger.settled_until is 'Time up to which the ledger of the probe is settled.'; -- timestamptz
comment on column reporting_internal.node_health_ledger.reported is 'True if the node returned a report, so that its checks are known.'; -- boolean
comment on column reporting_internal.node_health_ledger.error is 'The first error message.'; -- text
comment on column reporting_internal.node_health_ledger.message is 'The first message of a failing check in addition to its error.'; -- jsonb
comment on column reporting_internal.node_health_ledger.last_error is 'The latest error message.'; -- text
comment on column reporting_internal.node_health_ledger.last_message is 'The latest message of a failing check in addition to its error.'; -- jsonb
comment on column reporting_internal.node_health_ledger.failing_since is 'Start of the failure of the check as reported by the node. This start can be before the first probe.'; -- timestamptz
comment on column reporting_internal.node_health_ledger.failures is 'The latest number of consecutive failures as reported by the node.'; -- bigint
