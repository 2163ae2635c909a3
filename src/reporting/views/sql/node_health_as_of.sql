create or replace function reporting.node_health_as_of(
  at timestamptz -- The moment.
)
returns table (
  observer text, -- The recorder that looked, by its configured name.
  node text, -- The configured node.
  probe text, -- health, readiness or liveness; with :TAG, of the checks with that tag only, which never speaks for the node.
  check_name text, -- A check of the node, or * for the probe as a whole.
  state text, -- up, down, unknown or maintenance (announced).
  error text, -- Why.
  message jsonb, -- What a failing check said beside its error.
  since timestamptz, -- Since when it was so.
  observed_at timestamptz, -- Up to when the node had been watched: the moment itself, or an earlier one if no observer probed then.
  last_error text, -- Why, in the first words: how it was worded just then is not kept.
  last_message jsonb, -- What a failing check said beside its error, at first.
  failing_since timestamptz, -- Since when the check failed by the account of the node itself; can lie before the first look.
  failures bigint -- Null: how often it had failed by then is not kept.
)
language sql stable parallel safe as $$
select l.observer, l.node, l.probe, l.check_name, l.state, l.error, l.message, l.started_at,
  -- Looks do not leave a trace each. Times without probes do.
  greatest(l.started_at, coalesce((
    select min(a.started_at) from reporting.node_absences a
    where a.observer = l.observer and a.started_at <= at and a.ended_at > at), least(l.settled_until, at))),
  l.error, l.message, l.failing_since, null::bigint
from reporting_internal.node_health_ledger l
where l.started_at <= at and (l.ended_at is null or l.ended_at > at) and reporting_internal.has_record('node_health', at)
$$;

comment on function reporting.node_health_as_of is 'The last reading of each probe (check *) and each check at a past moment, as far as the ledger is settled until then (reporting.node_observers). A moment before the first look is an error.';
