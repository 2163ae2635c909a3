create or replace function reporting.node_uptime_by(
  grain interval, -- Length of each window, such as 1 day; see reporting_internal.window_begin. Null: one window.
  "from" timestamptz default null, -- Start of the first window. Null, or before the first probe: the first probe.
  "to" timestamptz default null -- End of the last window, exclusive. Null, or later: now, or the end of the watch.
)
returns table (
  observer text, -- The observer: the name of its recorder.
  node text, -- The configured node.
  probe text, -- The probe.
  begins timestamptz, -- Start of the window.
  ends timestamptz, -- End of the window, exclusive.
  up_seconds numeric, -- Seconds in which the node was up.
  down_seconds numeric, -- Seconds in which the node was down because of its own failure.
  unknown_seconds numeric, -- Seconds in which the state is unknown. The four durations add up to the watched time.
  maintenance_seconds numeric, -- Seconds of announced maintenance.
  uptime numeric, -- up / (up + down). Null: the node was observed neither as up nor as down.
  uptime_lower numeric, -- The uptime if the node was down in all unknown time.
  uptime_upper numeric, -- The uptime if the node was up in all unknown time.
  coverage numeric -- Share of the watched time in which the state is known.
)
language sql stable parallel safe as $$
with watched as not materialized (
  select p.observer, p.node, p.probe, p.watched, bounds.step, bounds.since, bounds.until
  from reporting_internal.node_probes p
  -- Computed once per probe, as below: without `offset 0`, PostgreSQL would compute the bounds once per window.
  cross join lateral (
    -- Without a grain, the step is longer than the longest possible window.
    select coalesce(grain, interval '10000 years') as step,
      greatest("from", p.first_probe_at) as since,
      least("to", p.watched_until, greatest(p.settled_until, now())) as until
    offset 0) bounds
  where p.first_probe_at is not null
),
windows as (
  select w.observer, w.node, w.probe, u.at, lower(part.during) as begins, upper(part.during) as ends
  from watched w
  cross join lateral (
    select w.watched * tstzmultirange(tstzrange(w.since, null) * tstzrange(null, w.until)) as during
    offset 0) configured,
    generate_series(coalesce(reporting_internal.window_begin(grain, w.since), w.since) at time zone 'UTC',
      (upper(configured.during) at time zone 'UTC') - interval '1 microsecond', w.step) as u(at),
    lateral (
      select configured.during * tstzmultirange(tstzrange(u.at at time zone 'UTC', (u.at + w.step) at time zone 'UTC')) as during) part
  where not isempty(part.during)
),
states_by_window as (
  select n.observer, n.node, n.probe, u.at, n.state,
    least(n.ended_at, (u.at + w.step) at time zone 'UTC', w.until)
      - greatest(n.started_at, u.at at time zone 'UTC', w.since) as lasted
  from watched w
  join reporting_internal.node_states n using (observer, node, probe),
    generate_series(coalesce(reporting_internal.window_begin(grain, greatest(n.started_at, w.since)), w.since) at time zone 'UTC',
      (least(n.ended_at, w.until) at time zone 'UTC') - interval '1 microsecond', w.step) as u(at)
  where n.started_at < w.until and n.ended_at > w.since
    -- PostgreSQL can apply these conditions before an interval is cut into its parts.
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

comment on function reporting.node_uptime_by is 'Uptime of each probe by hour, day, month or any other grain. Each window is computed as in reporting.node_uptime. A window in which the probe was not configured has no row.';
