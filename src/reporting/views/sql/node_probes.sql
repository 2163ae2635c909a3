create or replace view reporting_internal.node_probes as
select p.observer, p.node, p.probe, p.probes, p.probed_at, p.hour, p.entries,
  coalesce(refusal.since, o.heartbeat_at) as settled_until, refusal.reason as refused, p.latest,
  (select min(h.started_at) from recorder.node_health h
    where (h.observer, h.node, h.probe, h.check_name) = (p.observer, p.node, p.probe, '*')) as first_look,
  -- Intervals do not overlap: the last one decides. Its lookup costs the same however many there are.
  (select h.ended_at from recorder.node_health h
    where (h.observer, h.node, h.probe, h.check_name) = (p.observer, p.node, p.probe, '*')
    order by h.started_at desc limit 1) as watched_until
from recorder.health_probes p
join recorder.health_observers o using (observer)
left join lateral (
  select (one ->> 'since')::timestamptz as since, one ->> 'reason' as reason
  from jsonb_array_elements(o.refused) as one
  where (one ->> 'node', one ->> 'probe') = (p.node, p.probe)
  limit 1) refusal on true;

comment on view reporting_internal.node_probes is 'What is probed, or ever was.';
comment on column reporting_internal.node_probes.observer is 'The recorder that looked, by its configured name.'; -- text
comment on column reporting_internal.node_probes.node is 'The configured node.'; -- text
comment on column reporting_internal.node_probes.probe is 'health, readiness or liveness; with :TAG, of the checks with that tag only, which never speaks for the node.'; -- text
comment on column reporting_internal.node_probes.probes is 'Looks so far.'; -- bigint
comment on column reporting_internal.node_probes.probed_at is 'The last one.'; -- timestamptz
comment on column reporting_internal.node_probes.hour is 'The hour whose response times are being counted.'; -- timestamptz
comment on column reporting_internal.node_probes.entries is 'Those response times, packed (reporting.node_latency reads them).'; -- bytea
comment on column reporting_internal.node_probes.settled_until is 'Up to here the ledger of the probe is settled; what comes after is unknown so far.'; -- timestamptz
comment on column reporting_internal.node_probes.refused is 'Why the database refuses what is said of the probe, whose ledger is stalled; null: it does not.'; -- text
comment on column reporting_internal.node_probes.latest is 'By check, how what is said was worded at the last, where that is not how it was at first.'; -- jsonb
comment on column reporting_internal.node_probes.first_look is 'When it was first looked at.'; -- timestamptz
comment on column reporting_internal.node_probes.watched_until is 'When the watch ended, because the configuration does not have the probe any more; null: it goes on.'; -- timestamptz
