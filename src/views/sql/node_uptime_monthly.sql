create or replace view reporting.node_uptime_monthly as
with lifetimes as (
  select observer, node, probe, min(started_at) as since, greatest(max(ended_at), now()) as until
  from reporting.node_states
  group by observer, node, probe
),
months as (
  select l.observer, l.node, l.probe, u.begins,
    least((u.begins + interval '1 month') at time zone 'UTC', max(l.until)) - (u.begins at time zone 'UTC') as lasts
  from lifetimes l,
    generate_series(date_trunc('month', l.since at time zone 'UTC'),
      (l.until at time zone 'UTC') - interval '1 microsecond', interval '1 month') as u(begins)
  group by l.observer, l.node, l.probe, u.begins
),
states_by_month as (
  select n.observer, n.node, n.probe, u.begins, n.state,
    least(n.ended_at, (u.begins + interval '1 month') at time zone 'UTC')
      - greatest(n.started_at, u.begins at time zone 'UTC') as lasted
  from reporting.node_states n,
    generate_series(date_trunc('month', n.started_at at time zone 'UTC'),
      (n.ended_at at time zone 'UTC') - interval '1 microsecond', interval '1 month') as u(begins)
),
seconds_by_state as (
  select observer, node, probe, begins,
    extract(epoch from sum(lasted) filter (where state = 'up')) as up,
    extract(epoch from sum(lasted) filter (where state = 'down')) as down,
    extract(epoch from sum(lasted) filter (where state = 'maintenance')) as maintenance
  from states_by_month
  group by observer, node, probe, begins
)
select p.observer, p.node, p.probe, p.begins::date as month, t.up as up_seconds, t.down as down_seconds,
  w.seconds - t.up - t.down - t.maintenance as unknown_seconds, t.maintenance as maintenance_seconds,
  round(t.up / nullif(t.up + t.down, 0), 9) as uptime,
  round(t.up / nullif(w.seconds - t.maintenance, 0), 9) as uptime_lower,
  round((w.seconds - t.down - t.maintenance) / nullif(w.seconds - t.maintenance, 0), 9) as uptime_upper,
  round((t.up + t.down + t.maintenance) / nullif(w.seconds, 0), 9) as coverage
from months p
cross join lateral (select extract(epoch from p.lasts) as seconds) w
left join seconds_by_state s on (s.observer, s.node, s.probe, s.begins) = (p.observer, p.node, p.probe, p.begins)
cross join lateral (
  select coalesce(s.up, 0) as up, coalesce(s.down, 0) as down, coalesce(s.maintenance, 0) as maintenance) t;

comment on view reporting.node_uptime_monthly is 'Uptime of each probe by month (UTC), from its first look until now; see reporting.node_uptime.';
comment on column reporting.node_uptime_monthly.observer is 'The recorder that looked.'; -- text
comment on column reporting.node_uptime_monthly.node is 'The configured node.'; -- text
comment on column reporting.node_uptime_monthly.probe is 'The probe.'; -- text
comment on column reporting.node_uptime_monthly.month is 'The month (UTC), by its first day.'; -- date
comment on column reporting.node_uptime_monthly.up_seconds is 'Seconds it was up.'; -- numeric
comment on column reporting.node_uptime_monthly.down_seconds is 'Seconds it was down by its own fault.'; -- numeric
comment on column reporting.node_uptime_monthly.unknown_seconds is 'Seconds nobody could tell; the four add up to the window exactly.'; -- numeric
comment on column reporting.node_uptime_monthly.maintenance_seconds is 'Seconds of announced maintenance.'; -- numeric
comment on column reporting.node_uptime_monthly.uptime is 'up / (up + down); null where neither was seen.'; -- numeric
comment on column reporting.node_uptime_monthly.uptime_lower is 'The uptime if it was down whenever nobody could tell.'; -- numeric
comment on column reporting.node_uptime_monthly.uptime_upper is 'The uptime if it was up whenever nobody could tell.'; -- numeric
comment on column reporting.node_uptime_monthly.coverage is 'The share of the window that is accounted for.'; -- numeric
