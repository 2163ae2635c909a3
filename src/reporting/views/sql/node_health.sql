create or replace view reporting.node_health as
-- How an open interval is worded at the last is kept with its probe; with itself once it ended.
select h.observer, h.node, h.probe, h.check_name, h.state, h.error, h.message, h.started_at as since,
  p.probed_at as observed_at,
  coalesce(h.last_error, p.latest -> h.check_name ->> 'error', h.error) as last_error,
  coalesce(h.last_message, p.latest -> h.check_name -> 'message', h.message) as last_message,
  h.failing_since,
  coalesce(h.failures, (p.latest -> h.check_name ->> 'failures')::bigint) as failures
from recorder.node_health h
join recorder.health_probes p using (observer, node, probe)
where h.ended_at is null;

comment on view reporting.node_health is 'The last reading of each probe (check *) and each check.';
comment on column reporting.node_health.observer is 'The recorder that looked, by its configured name.'; -- text
comment on column reporting.node_health.node is 'The configured node.'; -- text
comment on column reporting.node_health.probe is 'health, readiness or liveness; with :TAG, of the checks with that tag only, which never speaks for the node.'; -- text
comment on column reporting.node_health.check_name is 'A check of the node, or * for the probe as a whole.'; -- text
comment on column reporting.node_health.state is 'up, down, unknown or maintenance (announced).'; -- text
comment on column reporting.node_health.error is 'Why.'; -- text
comment on column reporting.node_health.message is 'What a failing check said beside its error.'; -- jsonb
comment on column reporting.node_health.since is 'Since when it is so.'; -- timestamptz
comment on column reporting.node_health.observed_at is 'When the node was last asked.'; -- timestamptz
comment on column reporting.node_health.last_error is 'Why, in the latest words.'; -- text
comment on column reporting.node_health.last_message is 'What a failing check said beside its error at the last.'; -- jsonb
comment on column reporting.node_health.failing_since is 'Since when the check fails by the account of the node itself; can lie before the first look.'; -- timestamptz
comment on column reporting.node_health.failures is 'How often it failed in a row by the count of the node itself, at the last.'; -- bigint
