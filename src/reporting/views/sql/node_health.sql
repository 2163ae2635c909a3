create or replace view reporting.node_health as
-- The latest message is stored with the probe while the interval is open, and with the interval after its end.
select h.observer, h.node, h.probe, h.check_name, h.state, h.error, h.message, h.started_at as since,
  p.probed_at as observed_at,
  coalesce(h.last_error, p.latest -> h.check_name ->> 'error', h.error) as last_error,
  coalesce(h.last_message, p.latest -> h.check_name -> 'message', h.message) as last_message,
  h.failing_since,
  coalesce(h.failures, (p.latest -> h.check_name ->> 'failures')::bigint) as failures,
  reporting_internal.node_health_version_id(h.observer, h.node, h.probe, h.check_name, h.started_at) as version_id
from recorder.node_health h
join recorder.health_probes p using (observer, node, probe)
where h.ended_at is null;

comment on view reporting.node_health is 'The last reading of each probe (check *) and of each check.';
comment on column reporting.node_health.observer is 'The observer: the configured name of its recorder.'; -- text
comment on column reporting.node_health.node is 'The configured node.'; -- text
comment on column reporting.node_health.probe is 'health, readiness or liveness. With :TAG: only the checks with that tag, which do not determine the state of the node.'; -- text
comment on column reporting.node_health.check_name is 'Name of a check of the node, or * for the probe as a whole.'; -- text
comment on column reporting.node_health.state is 'up, down, unknown or maintenance (announced).'; -- text
comment on column reporting.node_health.error is 'Error message of the state.'; -- text
comment on column reporting.node_health.message is 'Message of a failing check in addition to its error.'; -- jsonb
comment on column reporting.node_health.since is 'Start of the state.'; -- timestamptz
comment on column reporting.node_health.observed_at is 'Time of the last probe.'; -- timestamptz
comment on column reporting.node_health.last_error is 'The latest error message.'; -- text
comment on column reporting.node_health.last_message is 'The latest message of a failing check in addition to its error.'; -- jsonb
comment on column reporting.node_health.failing_since is 'Start of the failure of the check as reported by the node. This start can be before the first probe.'; -- timestamptz
comment on column reporting.node_health.failures is 'The latest number of consecutive failures as reported by the node.'; -- bigint
comment on column reporting.node_health.version_id is 'Surrogate key of the interval, the same in every database that recorded it: a hash of the key and the start of the interval.'; -- uuid
