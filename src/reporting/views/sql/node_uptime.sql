create or replace function reporting.node_uptime(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz -- End of the window, exclusive.
)
returns table (
  observer text, -- The observer: the name of its recorder.
  node text, -- The configured node.
  probe text, -- The probe.
  up_seconds numeric, -- Seconds in which the node was up.
  down_seconds numeric, -- Seconds in which the node was down because of its own failure.
  unknown_seconds numeric, -- Seconds in which the state is unknown. The four durations add up to the watched time.
  maintenance_seconds numeric, -- Seconds of announced maintenance.
  uptime numeric, -- up / (up + down). Null: the node was observed neither as up nor as down.
  uptime_lower numeric, -- The uptime if the node was down in all unknown time.
  uptime_upper numeric, -- The uptime if the node was up in all unknown time.
  coverage numeric, -- Share of the watched time in which the state is known.
  since timestamptz, -- Start of the watched part of the window: the start of the window, or the first probe.
  until timestamptz -- End of the watched part of the window: the end of the window, now, or the end of the watch.
)
language sql stable parallel safe as $$
select observer, node, probe, up_seconds, down_seconds, unknown_seconds, maintenance_seconds, uptime, uptime_lower,
  uptime_upper, coverage, begins, ends
from reporting.node_uptime_by(null, "from", "to")
where "from" < "to"
$$;

comment on function reporting.node_uptime is 'Up, down, unknown and maintenance seconds of each probe, which add up to the watched part of a window. uptime is up / (up + down). The bounds of the uptime count unknown time as down and as up.';
