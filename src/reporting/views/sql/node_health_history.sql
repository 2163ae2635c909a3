create or replace view reporting.node_health_history as
select i.*, reporting_internal.node_health_version_id(i.observer, i.node, i.probe, i.check_name, i.started_at) as version_id
from (
select s.observer, s.node, s.probe, '*'::text as check_name, s.state, s.started_at, s.ended_at, s.is_open, s.probes,
  s.error, null::jsonb as message, s.last_error, null::jsonb as last_message, null::timestamptz as failing_since,
  null::bigint as failures
from reporting_internal.node_states s
union all
-- A check has a state of its own only while the probe reports and is not in maintenance. Otherwise the state of the probe applies.
select h.observer, h.node, h.probe, h.check_name, part.state, lower(part.during), upper(part.during),
  h.ended_at is null and upper(part.during) = p.settled_until,
  counts.until - counts.before,
  part.error,
  case when part.of_check then h.message end,
  case when part.of_check then coalesce(h.last_error, newest.words ->> 'error', h.error) else part.error end,
  case when part.of_check then coalesce(h.last_message, newest.words -> 'message', h.message) end,
  case when part.of_check then h.failing_since end,
  case when part.of_check then coalesce(h.failures, (newest.words ->> 'failures')::bigint) end
from reporting_internal.node_probes p
-- Computed once per probe: the times without a report or with maintenance, as one multirange and as separate parts.
cross join lateral (
  select range_agg(tstzrange(s.started_at, s.ended_at)) as during, array_agg(tstzrange(s.started_at, s.ended_at)) as parts,
    array_agg(s.state) as states, array_agg(s.error) as errors
  from reporting_internal.node_states s
  where (s.observer, s.node, s.probe) = (p.observer, p.node, p.probe) and (not s.reported or s.state = 'maintenance')) unreported
join recorder.node_health h on (h.observer, h.node, h.probe) = (p.observer, p.node, p.probe)
-- The latest message is stored with the probe while the interval is open, and with the interval after its end.
cross join lateral (select case when h.ended_at is null then p.latest -> h.check_name end as words) newest
cross join lateral (
  select tstzrange(h.started_at, coalesce(h.ended_at, greatest(p.settled_until, h.started_at))) as during) interval_whole
cross join lateral (
  select tstzmultirange(interval_whole.during) - coalesce(unreported.during, '{}') as during offset 0) observed
cross join lateral (
  select h.state, h.error, true as of_check, unnest(observed.during) as during
  union all
  select case u.state when 'maintenance' then u.state else 'unknown' end, u.error, false, u.during * interval_whole.during
  from unnest(unreported.states, unreported.errors, unreported.parts) as u(state, error, during)
  where u.during && interval_whole.during) part
-- The counter of the probe at the start and at the end of the part: from the check, from the whole probe, or from the last absence.
cross join lateral (
  select h.probes_before as first, coalesce(h.probes_before + h.probes, p.probes) as last) counted
cross join lateral (
  select case when lower(part.during) = h.started_at then counted.first else least(greatest(coalesce((
      select w.probes_before from recorder.node_health w
      where (w.observer, w.node, w.probe, w.check_name) = (h.observer, h.node, h.probe, '*') and w.started_at = lower(part.during)), (
      select (n.probe_counts -> h.node ->> h.probe)::bigint from recorder.health_absences n
      where n.observer = h.observer and n.started_at <= lower(part.during)
      order by n.started_at desc limit 1), counted.first), counted.first), counted.last) end as before,
    case when upper(part.during) = upper(interval_whole.during) then counted.last else least(greatest(coalesce((
      select w.probes_before from recorder.node_health w
      where (w.observer, w.node, w.probe, w.check_name) = (h.observer, h.node, h.probe, '*') and w.started_at = upper(part.during)), (
      select (n.probe_counts -> h.node ->> h.probe)::bigint from recorder.health_absences n
      where n.observer = h.observer and n.started_at <= upper(part.during)
      order by n.started_at desc limit 1), counted.first), counted.first), counted.last) end as until) counts
where h.check_name <> '*') i;

comment on view reporting.node_health_history is 'The states of each probe (check *) and of each check, as intervals without a change.';
comment on column reporting.node_health_history.observer is 'The observer: the configured name of its recorder.'; -- text
comment on column reporting.node_health_history.node is 'The configured node.'; -- text
comment on column reporting.node_health_history.probe is 'health, readiness or liveness. With :TAG: only the checks with that tag, which do not determine the state of the node.'; -- text
comment on column reporting.node_health_history.check_name is 'Name of a check of the node, or * for the probe as a whole.'; -- text
comment on column reporting.node_health_history.state is 'up, down, unknown or maintenance (announced).'; -- text
comment on column reporting.node_health_history.started_at is 'Start of the interval.'; -- timestamptz
comment on column reporting.node_health_history.ended_at is 'Time of the next different state, or the time up to which the interval is settled.'; -- timestamptz
comment on column reporting.node_health_history.is_open is 'True if the interval has not ended.'; -- boolean
comment on column reporting.node_health_history.probes is 'Number of probes in the interval; final once the interval has ended.'; -- bigint
comment on column reporting.node_health_history.error is 'Error message of the state.'; -- text
comment on column reporting.node_health_history.message is 'Message of a failing check in addition to its error.'; -- jsonb
comment on column reporting.node_health_history.last_error is 'The latest error message. Changed durations, shares, counts, times and ids in a message do not start a new interval.'; -- text
comment on column reporting.node_health_history.last_message is 'The latest message of a failing check in addition to its error.'; -- jsonb
comment on column reporting.node_health_history.failing_since is 'Start of the failure of the check as reported by the node. This start can be before the first probe.'; -- timestamptz
comment on column reporting.node_health_history.failures is 'The latest number of consecutive failures as reported by the node.'; -- bigint
comment on column reporting.node_health_history.version_id is 'Surrogate key of the interval, the same in every database that recorded it: a hash of the key and the start of the interval.'; -- uuid
