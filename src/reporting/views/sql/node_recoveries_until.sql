create or replace function reporting_internal.node_recoveries_until(
  at timestamptz -- The moment. infinity: now.
)
returns table (
  observer text, -- The observer: the configured name of its recorder.
  node text, -- The configured node.
  probe text, -- The probe. With :TAG: only the checks with that tag.
  started_at timestamptz -- Start of the up time.
)
language sql stable parallel safe as $$
select s.observer, s.node, s.probe, s.interval_started_at
from reporting_internal.node_states s
where s.state = 'up' and s.started_at < at
group by s.observer, s.node, s.probe, s.interval_started_at
having sum(least(s.ended_at, at) - s.started_at) >= interval '5 minutes'
$$;

comment on function reporting_internal.node_recoveries_until is 'The up times of a probe of 5 minutes or longer by observer, which end an incident. Absences of the observer do not count. As known at a moment, as far as the ledger is settled until then.';
