create or replace function reporting_internal.node_quorum_states_in(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz -- End of the window, exclusive.
)
returns table (
  node text, -- The configured node.
  probe text, -- The probe.
  state text, -- up, down or maintenance. With equally many observers for up and down, the state is up. Time outside of all intervals is unknown.
  disagreement boolean, -- True if some observers observed the probe as up and others as down.
  observers_up numeric, -- Number of observers that observed the probe as up.
  observers_down numeric, -- Number of observers that observed the probe as down.
  started_at timestamptz, -- Start of the interval, or of the window.
  ended_at timestamptz -- End of the interval, or of the window.
)
language sql stable parallel safe as $$
with watched_probes as (
  select p.node, p.probe, p.settled_until, o.watching and p.refused is null as is_current,
    max(p.settled_until) filter (where o.watching and p.refused is null) over (partition by p.node, p.probe) as furthest
  from reporting_internal.node_probes p
  join reporting_internal.node_observers o using (observer)
),
-- The moment up to which all current observers of a probe have settled their ledgers. An observer is not current if its
-- lease expired, if it lags by more than a minute, or if the database rejects its rows.
comparable as (
  select node, probe,
    coalesce(min(settled_until) filter (where is_current and settled_until > furthest - interval '1 minute'),
      max(settled_until)) as until
  from watched_probes
  group by node, probe
),
-- Each state adds one observer at its start, and subtracts the observer at its end.
edges as (
  select s.node, s.probe, edge.at, sum(edge.sign * (s.state = 'up')::int) as up,
    sum(edge.sign * (s.state = 'down')::int) as down, sum(edge.sign * (s.state = 'maintenance')::int) as maintenance
  from reporting_internal.node_states s
  join comparable c using (node, probe)
  cross join lateral (
    values (greatest(s.started_at, "from"), 1), (least(s.ended_at, c.until, "to"), -1)) as edge(at, sign)
  -- Another observer may have settled more than the compared time.
  where s.state <> 'unknown' and s.started_at < least(c.until, "to") and s.ended_at > "from" and c.until > "from"
    -- PostgreSQL can apply these conditions before an interval is cut into its parts.
    and s.interval_started_at < "to" and s.interval_ended_at > "from"
  group by s.node, s.probe, edge.at
),
votes as (
  select node, probe, at as started_at, lead(at) over moments as ended_at, sum(up) over moments as up,
    sum(down) over moments as down, sum(maintenance) over moments as maintenance
  from edges
  window moments as (partition by node, probe order by at)
),
verdicts as (
  select node, probe,
    case when maintenance > up + down then 'maintenance' when up + down = 0 then 'unknown'
      when down > up then 'down' else 'up' end as state,
    up > 0 and down > 0 as disagreement, up as observers_up, down as observers_down, started_at, ended_at
  from votes
)
select node, probe, state, disagreement, observers_up, observers_down, started_at, ended_at
from verdicts
where ended_at is not null and state <> 'unknown'
$$;

comment on function reporting_internal.node_quorum_states_in is 'The combined states of the observers of a probe in a window: the rows of reporting_internal.node_quorum_states, cut to the window.';
