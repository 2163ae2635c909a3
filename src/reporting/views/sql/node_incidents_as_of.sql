create or replace function reporting.node_incidents_as_of(
  at timestamptz -- The moment. infinity: now, with the latest messages of open incidents.
)
returns table (
  node text, -- The configured node.
  probe text, -- The probe. With :TAG: only the checks with that tag.
  started_at timestamptz, -- Time of the first failure.
  ended_at timestamptz, -- Time of the recovery. Null: the incident is open.
  is_open boolean, -- True if the incident is open.
  duration_seconds numeric, -- Seconds from the first failure to the end, or to the last probe.
  down_seconds numeric, -- Seconds for which the node was observed as down, by the observer with the longest observation. Times without probes do not count.
  outages bigint, -- Number of outages within the incident.
  first_error text, -- The first error message.
  last_error text, -- The latest error message.
  noticed_by text[], -- The observers that observed the node as down.
  first_noticed_by text, -- The observer that observed the outage first.
  failed_checks text[], -- The checks that failed during the incident.
  failing_since timestamptz, -- Start of the failure of a check as reported by the node. This start can be before the first probe.
  checks jsonb, -- For each failed check: its first and its latest error, and the start and the number of its failures as reported by the node.
  unknown_seconds numeric -- Seconds in which no observer could determine the state of the node.
)
language sql stable parallel safe as $$
with ledger as not materialized (
  select l.observer, l.node, l.probe, l.check_name, l.state, l.started_at, case when l.ended_at < at then l.ended_at end as ended_at,
    l.error,
    -- The latest message of an interval that was open at the moment is not stored.
    case when at = 'infinity' or l.ended_at < at then l.last_error else l.error end as last_error,
    l.failing_since, case when at = 'infinity' or l.ended_at < at then l.failures end as failures
  from reporting_internal.node_health_ledger l
  where l.started_at < at
),
turns as (
  select observer, node, probe, started_at, ended_at, seen_until, down_seconds, error, last_error, false as is_recovery
  from reporting_internal.node_outages_in('-infinity', at)
  union all
  select observer, node, probe, started_at, null, null, null, null, null, true
  from reporting_internal.node_recoveries_until(at)
),
numbered_turns as (
  select *, count(*) filter (where is_recovery) over (partition by observer, node, probe order by started_at) as recoveries
  from turns
),
-- The down time between two recoveries by one observer.
observed_outages as (
  select observer, node, probe, min(started_at) as started_at, max(seen_until) as ended_at,
    bool_or(ended_at is null) as is_open, sum(down_seconds) as down_seconds, count(*) as outages,
    (array_agg(error order by started_at))[1] as first_error,
    (array_agg(last_error order by started_at desc))[1] as last_error
  from numbered_turns
  where not is_recovery
  group by observer, node, probe, recoveries
),
-- Marks outages that start after the end of all earlier outages of all observers.
compared_outages as (
  select *,
    started_at > coalesce(max(case when is_open then 'infinity' else ended_at end) over (
      partition by node, probe order by started_at, observer rows between unbounded preceding and 1 preceding),
      '-infinity') as is_apart
  from observed_outages
),
numbered_outages as (
  select *, count(*) filter (where is_apart) over (partition by node, probe order by started_at, observer) as incident
  from compared_outages
),
-- Several outages of one observer are one incident if another observer observed the node as down in between.
observers as (
  select node, probe, incident, observer, min(started_at) as started_at, max(ended_at) as ended_at, bool_or(is_open) as is_open,
    sum(down_seconds) as down_seconds, sum(outages)::bigint as outages,
    (array_agg(first_error order by started_at))[1] as first_error,
    (array_agg(last_error order by ended_at desc))[1] as last_error
  from numbered_outages
  group by node, probe, incident, observer
),
incidents as (
  select node, probe, min(started_at) as started_at,
    case when not bool_or(is_open) then max(ended_at) end as ended_at, bool_or(is_open) as is_open,
    max(ended_at) as seen_until, max(down_seconds) as down_seconds, max(outages) as outages,
    (array_agg(first_error order by started_at))[1] as first_error,
    (array_agg(last_error order by ended_at desc))[1] as last_error,
    array_agg(observer order by observer) as noticed_by,
    (array_agg(observer order by started_at))[1] as first_noticed_by
  from observers
  group by node, probe, incident
),
-- Times in which any observer determined the state.
known_times as (
  select node, probe, range_agg(tstzrange(started_at, least(ended_at, at))) as during
  from reporting_internal.node_states
  where state <> 'unknown' and started_at < at
  group by node, probe
),
measured_incidents as (
  select i.*, (
      select extract(epoch from coalesce(sum(upper(unknown_part) - lower(unknown_part)), '0'))
      from unnest(tstzmultirange(tstzrange(i.started_at, coalesce(i.ended_at, i.seen_until))) - t.during) as unknown_part) as unknown_seconds
  from incidents i left join known_times t on (t.node, t.probe) = (i.node, i.probe)
),
failed_checks as (
  select i.*, h.check_name, (array_agg(h.error order by h.started_at))[1] as check_error,
    (array_agg(h.last_error order by h.started_at desc))[1] as last_check_error,
    min(h.failing_since) as failing_since, max(h.failures) as failures
  from measured_incidents i
  left join ledger h on (h.node, h.probe) = (i.node, i.probe) and h.observer = any(i.noticed_by) and h.check_name <> '*'
    and h.state = 'down' and h.started_at < coalesce(i.ended_at, 'infinity') and coalesce(h.ended_at, 'infinity') > i.started_at
  group by i.node, i.probe, i.started_at, i.ended_at, i.is_open, i.seen_until, i.down_seconds, i.outages, i.first_error,
    i.last_error, i.noticed_by, i.first_noticed_by, i.unknown_seconds, h.check_name
)
select node, probe, started_at, ended_at, is_open, extract(epoch from coalesce(ended_at, seen_until) - started_at),
  down_seconds, outages, first_error, last_error, noticed_by, first_noticed_by,
  coalesce(array_agg(check_name order by check_name) filter (where check_name is not null), '{}'),
  min(failing_since),
  coalesce(jsonb_object_agg(check_name, jsonb_build_object('first_error', check_error, 'last_error', last_check_error,
    'failing_since', failing_since, 'failures', failures)) filter (where check_name is not null), '{}'),
  unknown_seconds
from failed_checks
group by node, probe, started_at, ended_at, is_open, seen_until, down_seconds, outages, first_error, last_error, noticed_by,
  first_noticed_by, unknown_seconds
$$;

comment on function reporting.node_incidents_as_of is 'Periods in which nodes were down, by all observers together, as known at a moment and as far as the ledger is settled until then. An up time of less than 5 minutes does not end an incident.';
