create or replace function reporting.node_health_as_of(
  at timestamptz -- The moment.
)
returns table (
  observer text, -- The observer: the configured name of its recorder.
  node text, -- The configured node.
  probe text, -- health, readiness or liveness. With :TAG: only the checks with that tag, which do not determine the state of the node.
  check_name text, -- Name of a check of the node, or * for the probe as a whole.
  state text, -- up, down, unknown or maintenance (announced).
  error text, -- Error message of the state.
  message jsonb, -- Message of a failing check in addition to its error.
  since timestamptz, -- Start of the state.
  observed_at timestamptz, -- Time up to which the node had been watched: the moment itself, or an earlier moment if no observer probed then.
  last_error text, -- The first error message. The latest message at a past moment is not stored.
  last_message jsonb, -- The first message of a failing check in addition to its error.
  failing_since timestamptz, -- Start of the failure of the check as reported by the node. This start can be before the first probe.
  failures bigint, -- Null: the number of failures at a past moment is not stored.
  version_id uuid -- Surrogate key of the interval, the same in every database that recorded it: a hash of the key and the start of the interval.
)
language sql stable parallel safe as $$
select l.observer, l.node, l.probe, l.check_name, l.state, l.error, l.message, l.started_at,
  -- Single probes are not stored, but times without probes are.
  greatest(l.started_at, coalesce((
    select min(a.started_at) from reporting_internal.node_absences a
    where a.observer = l.observer and a.started_at <= at and a.ended_at > at), least(l.settled_until, at))),
  l.error, l.message, l.failing_since, null::bigint,
  reporting_internal.node_health_version_id(l.observer, l.node, l.probe, l.check_name, l.started_at)
from reporting_internal.node_health_ledger l
where l.started_at <= at and (l.ended_at is null or l.ended_at > at) and reporting_internal.has_record('node_health', at)
$$;

comment on function reporting.node_health_as_of is 'The last reading of each probe (check *) and of each check at a past moment, as far as the ledger is settled until then (reporting_internal.node_observers). A moment before the first probe is an error.';
