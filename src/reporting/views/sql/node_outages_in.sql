create or replace function reporting_internal.node_outages_in(
  "from" timestamptz, -- Start of the window. Outages that ended before are omitted.
  "to" timestamptz -- End of the window, exclusive. The state is as known then. infinity: now, with the latest messages of open outages.
)
returns table (
  observer text, -- The observer: the configured name of its recorder.
  node text, -- The configured node.
  probe text, -- The probe. With :TAG: only the checks with that tag.
  started_at timestamptz, -- Start of the outage: the first failure.
  ended_at timestamptz, -- End of the outage. Null: the probe is down.
  seen_until timestamptz, -- End of the outage, or the time up to which it is settled.
  down_seconds numeric, -- Observed duration in seconds, without absences of the observer.
  error text, -- The first error message.
  last_error text -- The latest error message.
)
language sql stable parallel safe as $$
with absences as materialized (
  select observer, range_agg(tstzrange(started_at, ended_at)) as absent
  from reporting_internal.node_absences
  group by observer
),
intervals as (
  select l.observer, l.node, l.probe, l.started_at, l.error, case when l.ended_at < "to" then l.ended_at end as ended_at,
    case when l.ended_at < "to" then l.ended_at else least(greatest(l.settled_until, l.started_at), "to") end as seen_until,
    -- The latest message of an interval that was open at the moment is not stored.
    case when "to" = 'infinity' or l.ended_at < "to" then l.last_error else l.error end as last_error
  from reporting_internal.node_probes p
  cross join lateral (
    select coalesce(max(o.started_at), '-infinity') as at
    from reporting_internal.node_health_ledger o
    where (o.observer, o.node, o.probe, o.check_name) = (p.observer, p.node, p.probe, '*') and o.state <> 'down'
      and o.started_at <= "from") other
  join reporting_internal.node_health_ledger l on (l.observer, l.node, l.probe, l.check_name) = (p.observer, p.node, p.probe, '*')
    and l.started_at >= other.at and l.started_at < "to"
  where l.state = 'down'
),
-- If the error changes during an outage, the next interval starts at the end of the previous interval, and the outage continues.
marked as (
  select *, lag(ended_at) over (partition by observer, node, probe order by started_at) is distinct from started_at as is_first
  from intervals
),
numbered as (
  select *, count(*) filter (where is_first) over (partition by observer, node, probe order by started_at) as outage
  from marked
),
outages as (
  select observer, node, probe, min(started_at) as started_at, (array_agg(ended_at order by started_at desc))[1] as ended_at,
    max(seen_until) as seen_until, (array_agg(error order by started_at))[1] as error,
    (array_agg(last_error order by started_at desc))[1] as last_error
  from numbered
  group by observer, node, probe, outage
)
select o.observer, o.node, o.probe, o.started_at, o.ended_at, o.seen_until, extract(epoch from seen.lasted), o.error, o.last_error
from outages o
left join absences a using (observer)
cross join lateral (
  select coalesce(sum(upper(part) - lower(part)), '0') as lasted
  from unnest(tstzmultirange(tstzrange(o.started_at, o.seen_until)) - coalesce(a.absent, '{}')) as part) seen
where o.ended_at is null or o.ended_at > "from"
$$;

comment on function reporting_internal.node_outages_in is 'The outages of probes by observer that overlap a window. An outage continues while the error changes.';
