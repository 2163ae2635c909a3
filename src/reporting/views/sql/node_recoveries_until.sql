create or replace function reporting_internal.node_recoveries_until(
  at timestamptz -- The moment; infinity: now.
)
returns table (
  observer text, -- The recorder that looked, by its configured name.
  node text, -- The configured node.
  probe text, -- The probe; with :TAG, of a part of the node only.
  started_at timestamptz -- Since when it was up.
)
language sql stable parallel safe as $$
select s.observer, s.node, s.probe, s.interval_started_at
from reporting.node_states s
where s.state = 'up' and s.started_at < at
group by s.observer, s.node, s.probe, s.interval_started_at
having sum(least(s.ended_at, at) - s.started_at) >= interval '5 minutes'
$$;

comment on function reporting_internal.node_recoveries_until is 'Each time that an observer saw a probe up for 5 minutes or longer, which ends an incident; times in which it did not look do not count. As known at a moment, as far as it is settled until then.';
