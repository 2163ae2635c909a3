create or replace view reporting_internal.node_health_now as
with readings as (
  select h.node, h.probe, h.observer, case when o.watching then h.state else 'unknown' end as state,
    -- The error may change while the node is down; the start of the down time does not.
    coalesce(outage.started_at, h.since) as since, h.last_error, h.observed_at, o.watching
  from reporting.node_health h
  join reporting_internal.node_observers o using (observer)
  left join lateral (
    select d.started_at from reporting_internal.node_outages_in('infinity', 'infinity') d
    where h.state = 'down' and (d.observer, d.node, d.probe) = (h.observer, h.node, h.probe)) outage on true
  where h.check_name = '*'
),
counted as (
  select node, probe, count(*) filter (where state = 'up') as up, count(*) filter (where state = 'down') as down,
    count(*) filter (where state = 'maintenance') as maintenance, count(*) filter (where watching) as observers,
    max(observed_at) as observed_at
  from readings
  group by node, probe
),
-- As in reporting_internal.node_quorum_states: with equally many observers for up and down, the state is up.
probes as (
  select node, probe, observers, observed_at,
    case when maintenance > up + down then 'maintenance' when up + down = 0 then 'unknown' when down > up then 'down'
      else 'up' end as state
  from counted
),
nodes as (
  select node, max(state) filter (where probe = 'health') as health, max(state) filter (where probe = 'readiness') as readiness,
    max(state) filter (where probe = 'liveness') as liveness, max(observers) as observers, max(observed_at) as observed_at
  from probes
  group by node
),
seen as (
  select n.node, min(r.since) as since, (array_agg(r.last_error order by r.since))[1] as error
  from nodes n
  join readings r on r.watching and (r.node, r.probe, r.state) = (n.node, 'health', n.health)
  group by n.node
),
failing as (
  select h.node, array_agg(distinct h.check_name order by h.check_name) as checks
  from reporting.node_health h
  join reporting_internal.node_observers o using (observer)
  where (h.probe, h.state) = ('health', 'down') and h.check_name <> '*' and o.watching
  group by h.node
)
select n.node, n.health, n.readiness, n.liveness, s.since, s.error, coalesce(f.checks, '{}') as failing_checks, n.observers,
  n.observed_at
from nodes n
left join seen s using (node)
left join failing f using (node);

comment on view reporting_internal.node_health_now is 'The current state of each node, one row per node, by the majority of the observers that watch. Unknown if no observer watches.';
comment on column reporting_internal.node_health_now.node is 'The configured node.'; -- text
comment on column reporting_internal.node_health_now.health is 'State by the probe health: up, down, unknown or maintenance (announced). Null: the probe is not configured.'; -- text
comment on column reporting_internal.node_health_now.readiness is 'State by the probe readiness: up, down, unknown or maintenance (announced). Null: the probe is not configured.'; -- text
comment on column reporting_internal.node_health_now.liveness is 'State by the probe liveness: up, down, unknown or maintenance (announced). Null: the probe is not configured.'; -- text
comment on column reporting_internal.node_health_now.since is 'Start of the state by the probe health, as first seen by an observer. Null: no observer watches, or the probe is not configured.'; -- timestamptz
comment on column reporting_internal.node_health_now.error is 'The latest error message. Null: the node is up.'; -- text
comment on column reporting_internal.node_health_now.failing_checks is 'The failing checks.'; -- text[]
comment on column reporting_internal.node_health_now.observers is 'Number of observers that watch the node.'; -- bigint
comment on column reporting_internal.node_health_now.observed_at is 'Time of the last probe.'; -- timestamptz
