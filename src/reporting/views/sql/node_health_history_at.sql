create or replace function reporting_internal.node_health_history_at(
  at timestamptz -- The moment. Open intervals also contain every later moment.
)
returns table (
  observer text, -- The observer: the configured name of its recorder.
  node text, -- The configured node.
  probe text, -- health, readiness or liveness. With :TAG: only the checks with that tag, which do not determine the state of the node.
  check_name text, -- Name of a check of the node, or * for the probe as a whole.
  state text, -- up, down, unknown or maintenance (announced).
  error text, -- Error message of the state.
  message jsonb, -- Message of a failing check in addition to its error.
  last_error text, -- The latest error message. Changed durations, shares, counts, times and ids in a message do not start a new interval.
  last_message jsonb, -- The latest message of a failing check in addition to its error.
  failing_since timestamptz, -- Start of the failure of the check as reported by the node. This start can be before the first probe.
  failures bigint -- The latest number of consecutive failures as reported by the node.
)
language sql stable parallel safe as $$
with held as not materialized (
  select l.observer, l.node, l.probe, l.check_name, l.state, l.error, l.message, l.last_error, l.last_message, l.failing_since,
    l.failures,
    -- An open interval continues unchanged beyond the settled time.
    case when l.ended_at is null then least(at, l.settled_until - interval '1 microsecond') else at end as moment
  from reporting_internal.node_health_ledger l
  where l.started_at <= at and (l.ended_at > at or (l.ended_at is null and l.settled_until > l.started_at))
),
with_whole as (
  select h.*, w.state as whole_state, w.absent,
    case when w.absent and w.state <> 'unknown' then 'no observer probed the node' else w.error end as whole_error,
    case when w.absent and w.state <> 'unknown' then 'no observer probed the node' else w.last_error end as whole_last_error,
    -- A check has a state of its own only while the probe reports and is not in maintenance. Otherwise the state of the probe applies.
    w.state = 'maintenance' or not w.reported or (w.absent and w.state <> 'unknown') as hidden
  from held h
  left join lateral (
    select l.state, l.error, l.last_error, l.reported, l.state <> 'maintenance' and exists (
      select from reporting_internal.node_absences a
      where a.observer = h.observer and a.started_at <= h.moment and a.ended_at > h.moment) as absent
    from reporting_internal.node_health_ledger l
    where (l.observer, l.node, l.probe, l.check_name) = (h.observer, h.node, h.probe, '*') and l.started_at <= h.moment
      and coalesce(l.ended_at, l.settled_until) > h.moment
    order by l.started_at desc
    limit 1) w on true
)
select observer, node, probe, check_name,
  case
    when check_name = '*' then case when absent then 'unknown' else state end
    when hidden then case whole_state when 'maintenance' then 'maintenance' else 'unknown' end
    else state end,
  case when check_name = '*' or hidden then whole_error else error end,
  case when check_name <> '*' and hidden is not true then message end,
  case when check_name = '*' then whole_last_error when hidden then whole_error else last_error end,
  case when check_name <> '*' and hidden is not true then last_message end,
  case when check_name <> '*' and hidden is not true then failing_since end,
  case when check_name <> '*' and hidden is not true then failures end
from with_whole
$$;

comment on function reporting_internal.node_health_history_at is 'The rows of reporting.node_health_history at one moment, without the bounds of the intervals. Faster than a search in the intervals.';
