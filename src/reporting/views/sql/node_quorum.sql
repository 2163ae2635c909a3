create or replace function reporting.node_quorum(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz -- End of the window, exclusive.
)
returns table (
  node text, -- The configured node.
  probe text, -- The probe.
  observers bigint, -- Number of observers of the probe.
  up_seconds numeric, -- Seconds in which the node was up.
  down_seconds numeric, -- Seconds in which the node was down because of its own failure.
  unknown_seconds numeric, -- Seconds in which the state is unknown. The four durations add up to the watched time.
  maintenance_seconds numeric, -- Seconds of announced maintenance.
  uptime numeric, -- up / (up + down). Null: the node was observed neither as up nor as down.
  uptime_lower numeric, -- The uptime if the node was down in all unknown time.
  uptime_upper numeric, -- The uptime if the node was up in all unknown time.
  coverage numeric, -- Share of the watched time in which the state is known.
  disagreement_seconds numeric, -- Seconds in which observers disagreed about up and down.
  since timestamptz, -- Start of the watched part of the window: the start of the window, or the first probe.
  until timestamptz -- End of the watched part of the window: the end of the window, now, or the end of the watch.
)
language sql stable parallel safe as $$
with probes as (
  select p.node, p.probe, count(*) as observers, min(lower(part.during)) as since, max(upper(part.during)) as until
  from reporting_internal.node_probes p
  cross join lateral (
    select p.watched * tstzmultirange(tstzrange("from", null) * tstzrange(null, least("to", greatest(p.settled_until, now())))) as during
    offset 0) part
  where not isempty(part.during)
  group by p.node, p.probe
),
states_in_window as (
  select node, probe, state, disagreement, ended_at - started_at as lasted
  from reporting_internal.node_quorum_states_in("from", "to")
),
seconds_by_state as (
  select node, probe,
    extract(epoch from sum(lasted) filter (where state = 'up')) as up,
    extract(epoch from sum(lasted) filter (where state = 'down')) as down,
    extract(epoch from sum(lasted) filter (where state = 'maintenance')) as maintenance,
    extract(epoch from sum(lasted) filter (where disagreement)) as disagreement
  from states_in_window
  group by node, probe
)
select p.node, p.probe, p.observers, t.up as up_seconds, t.down as down_seconds,
  w.seconds - t.up - t.down - t.maintenance as unknown_seconds, t.maintenance as maintenance_seconds,
  round(t.up / nullif(t.up + t.down, 0), 9) as uptime,
  round(t.up / nullif(w.seconds - t.maintenance, 0), 9) as uptime_lower,
  round((w.seconds - t.down - t.maintenance) / nullif(w.seconds - t.maintenance, 0), 9) as uptime_upper,
  round((t.up + t.down + t.maintenance) / nullif(w.seconds, 0), 9) as coverage,
  coalesce(s.disagreement, 0), p.since, p.until
from probes p
cross join lateral (select extract(epoch from p.until - p.since) as seconds) w
left join seconds_by_state s on (s.node, s.probe) = (p.node, p.probe)
cross join lateral (
  select coalesce(s.up, 0) as up, coalesce(s.down, 0) as down, coalesce(s.maintenance, 0) as maintenance) t
$$;

comment on function reporting.node_quorum is 'Uptime by the majority of the observers that probed, and the duration of their disagreement.';
