create or replace function reporting.node_uptime(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz -- Its end, itself not in it.
)
returns table (
  observer text, -- The recorder that looked.
  node text, -- The configured node.
  probe text, -- The probe.
  up_seconds numeric, -- Seconds it was up.
  down_seconds numeric, -- Seconds it was down by its own fault.
  unknown_seconds numeric, -- Seconds in which the state is unknown; the four add up to the watched time exactly.
  maintenance_seconds numeric, -- Seconds of announced maintenance.
  uptime numeric, -- up / (up + down); null where neither was seen.
  uptime_lower numeric, -- The uptime if the node was down in all unknown time.
  uptime_upper numeric, -- The uptime if the node was up in all unknown time.
  coverage numeric, -- The share of the watched time that is accounted for.
  since timestamptz, -- Start of the watched part of the window: its start, or the first look.
  until timestamptz -- Its end: the end of the window, now, or the end of the watch.
)
language sql stable parallel safe as $$
select observer, node, probe, up_seconds, down_seconds, unknown_seconds, maintenance_seconds, uptime, uptime_lower,
  uptime_upper, coverage, begins, ends
from reporting.node_uptime_by(null, "from", "to")
where "from" < "to"
$$;

comment on function reporting.node_uptime is 'Up, down, unknown and maintenance seconds of each probe in the part of a window in which it was watched, which they add up to exactly. uptime is up / (up + down); its bounds count unknown time as down and as up.';
