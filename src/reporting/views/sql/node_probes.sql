create or replace view reporting_internal.node_probes as
select p.observer, p.node, p.probe, p.probes, p.probed_at, p.hour, p.entries,
  coalesce(refusal.since, o.heartbeat_at) as settled_until, refusal.reason as refused, p.latest,
  (select min(h.started_at) from recorder.node_health h
    where (h.observer, h.node, h.probe, h.check_name) = (p.observer, p.node, p.probe, '*')) as first_probe_at,
  -- Intervals do not overlap, so the last interval determines the value. The cost of the lookup does not depend on the number of intervals.
  (select h.ended_at from recorder.node_health h
    where (h.observer, h.node, h.probe, h.check_name) = (p.observer, p.node, p.probe, '*')
    order by h.started_at desc limit 1) as watched_until,
  -- Intervals are contiguous, except while the configuration did not contain the probe. All intervals are read.
  (select range_agg(tstzrange(h.started_at, h.ended_at)) from recorder.node_health h
    where (h.observer, h.node, h.probe, h.check_name) = (p.observer, p.node, p.probe, '*')) as watched
from recorder.health_probes p
join recorder.health_observers o using (observer)
left join lateral (
  select (one ->> 'since')::timestamptz as since, one ->> 'reason' as reason
  from jsonb_array_elements(o.refused) as one
  where (one ->> 'node', one ->> 'probe') = (p.node, p.probe)
  limit 1) refusal on true;

comment on view reporting_internal.node_probes is 'The probes of nodes, current and past.';
comment on column reporting_internal.node_probes.observer is 'The observer: the configured name of its recorder.'; -- text
comment on column reporting_internal.node_probes.node is 'The configured node.'; -- text
comment on column reporting_internal.node_probes.probe is 'health, readiness or liveness. With :TAG: only the checks with that tag, which do not determine the state of the node.'; -- text
comment on column reporting_internal.node_probes.probes is 'Number of probes so far.'; -- bigint
comment on column reporting_internal.node_probes.probed_at is 'Time of the last probe.'; -- timestamptz
comment on column reporting_internal.node_probes.hour is 'The hour whose response times are being counted.'; -- timestamptz
comment on column reporting_internal.node_probes.entries is 'The response times of this hour, packed (reporting.node_latency reads them).'; -- bytea
comment on column reporting_internal.node_probes.settled_until is 'Time up to which the ledger of the probe is settled. Later time is still unknown.'; -- timestamptz
comment on column reporting_internal.node_probes.refused is 'Reason why the database rejects the rows of the probe, whose ledger is stalled. Null: the rows are accepted.'; -- text
comment on column reporting_internal.node_probes.latest is 'The latest messages by check, if they differ from the first messages.'; -- jsonb
comment on column reporting_internal.node_probes.first_probe_at is 'Time of the first probe.'; -- timestamptz
comment on column reporting_internal.node_probes.watched_until is 'Time at which the probe was removed from the configuration. Null: the probe is configured.'; -- timestamptz
comment on column reporting_internal.node_probes.watched is 'The times in which the configuration contained the probe, from its first result. Without an upper bound: the probe is configured.'; -- tstzmultirange
