create or replace function reporting.node_uptime_by(
  grain interval, -- How long each window is, such as 1 day; see reporting_internal.window_begin. Null: one window.
  "from" timestamptz default null, -- Start of the first window; null, or before the first look: the first look.
  "to" timestamptz default null -- End of the last window, itself not in it; null, or later: now, or the end of the watch.
)
returns table (
  observer text, -- The recorder that looked.
  node text, -- The configured node.
  probe text, -- The probe.
  begins timestamptz, -- Start of the window.
  ends timestamptz, -- Its end, itself not in it.
  up_seconds numeric, -- Seconds it was up.
  down_seconds numeric, -- Seconds it was down by its own fault.
  unknown_seconds numeric, -- Seconds in which the state is unknown; the four add up to the watched time exactly.
  maintenance_seconds numeric, -- Seconds of announced maintenance.
  uptime numeric, -- up / (up + down); null where neither was seen.
  uptime_lower numeric, -- The uptime if the node was down in all unknown time.
  uptime_upper numeric, -- The uptime if the node was up in all unknown time.
  coverage numeric -- The share of the watched time that is accounted for.
)
language sql stable parallel safe as $$
with watched as not materialized (
  select p.observer, p.node, p.probe, bounds.step, bounds.since, bounds.until
  from reporting_internal.node_probes p
  -- Worked out once a probe: without the offset once a window.
  cross join lateral (
    -- Without a grain the step is longer than any window that can be asked for.
    select coalesce(grain, interval '10000 years') as step,
      greatest("from", p.first_look) as since,
      least("to", p.watched_until, greatest(p.settled_until, now())) as until
    offset 0) bounds
  where p.first_look is not null
),
windows as (
  select w.observer, w.node, w.probe, u.at, greatest(u.at at time zone 'UTC', w.since) as begins,
    least((u.at + w.step) at time zone 'UTC', w.until) as ends
  from watched w,
    generate_series(coalesce(reporting_internal.window_begin(grain, w.since), w.since) at time zone 'UTC',
      (w.until at time zone 'UTC') - interval '1 microsecond', w.step) as u(at)
),
states_by_window as (
  select n.observer, n.node, n.probe, u.at, n.state,
    least(n.ended_at, (u.at + w.step) at time zone 'UTC', w.until)
      - greatest(n.started_at, u.at at time zone 'UTC', w.since) as lasted
  from watched w
  join reporting.node_states n using (observer, node, probe),
    generate_series(coalesce(reporting_internal.window_begin(grain, greatest(n.started_at, w.since)), w.since) at time zone 'UTC',
      (least(n.ended_at, w.until) at time zone 'UTC') - interval '1 microsecond', w.step) as u(at)
  where n.started_at < w.until and n.ended_at > w.since
    -- Known before an interval is cut into its parts.
    and ("to" is null or n.interval_started_at < "to") and ("from" is null or n.interval_ended_at > "from")
),
seconds_by_state as (
  select observer, node, probe, at,
    extract(epoch from sum(lasted) filter (where state = 'up')) as up,
    extract(epoch from sum(lasted) filter (where state = 'down')) as down,
    extract(epoch from sum(lasted) filter (where state = 'maintenance')) as maintenance
  from states_by_window
  group by observer, node, probe, at
)
select w.observer, w.node, w.probe, w.begins, w.ends, t.up as up_seconds, t.down as down_seconds,
  t.whole - t.up - t.down - t.maintenance as unknown_seconds, t.maintenance as maintenance_seconds,
  round(t.up / nullif(t.up + t.down, 0), 9) as uptime,
  round(t.up / nullif(t.whole - t.maintenance, 0), 9) as uptime_lower,
  round((t.whole - t.down - t.maintenance) / nullif(t.whole - t.maintenance, 0), 9) as uptime_upper,
  round((t.up + t.down + t.maintenance) / nullif(t.whole, 0), 9) as coverage
from windows w
left join seconds_by_state s using (observer, node, probe, at)
cross join lateral (
  select extract(epoch from w.ends - w.begins) as whole,
    coalesce(s.up, 0) as up, coalesce(s.down, 0) as down, coalesce(s.maintenance, 0) as maintenance) t
$$;

comment on function reporting.node_uptime_by is 'Uptime of each probe by hour, day, month or any other grain. Each window counts as reporting.node_uptime does: it starts with the watch of the probe, and ends with it.';
