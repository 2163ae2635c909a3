create or replace view reporting_internal.node_states as
with absences as materialized (
  select observer, range_agg(tstzrange(started_at, ended_at)) as absent
  from recorder.health_absences
  group by observer
)
select h.observer, h.node, h.probe, part.state, lower(part.during) as started_at, upper(part.during) as ended_at,
  case when part.state = h.state then h.error else 'no observer probed the node' end as error,
  h.reported and part.state = h.state as reported,
  h.ended_at is null and upper(part.during) = p.settled_until as is_open,
  counts.until - counts.before as probes,
  -- The latest message is stored with the probe while the interval is open, and with the interval after its end.
  case when part.state = h.state
    then coalesce(h.last_error, case when h.ended_at is null then p.latest -> h.check_name end ->> 'error', h.error)
    else 'no observer probed the node' end as last_error,
  h.started_at as interval_started_at, coalesce(h.ended_at, greatest(p.settled_until, h.started_at)) as interval_ended_at
from recorder.node_health h
join reporting_internal.node_probes p using (observer, node, probe)
left join absences a using (observer)
cross join lateral (
  select tstzrange(h.started_at, coalesce(h.ended_at, greatest(p.settled_until, h.started_at))) as during) interval_whole
cross join lateral (
  select case when h.state <> 'maintenance' and a.absent && interval_whole.during
    then tstzmultirange(interval_whole.during) - a.absent
    else tstzmultirange(interval_whole.during) end as during) observed
cross join lateral (
  select h.state, unnest(observed.during) as during
  union all
  select 'unknown', unnest(tstzmultirange(interval_whole.during) * a.absent)
  where h.state <> 'maintenance' and a.absent && interval_whole.during) part
-- The counter of the probe at the start and at the end of the part: from the interval, or from the last absence until then.
cross join lateral (
  select h.probes_before as first, coalesce(h.probes_before + h.probes, p.probes) as last) counted
cross join lateral (
  select case when lower(part.during) = h.started_at then counted.first else least(greatest(coalesce((
      select (n.probe_counts -> h.node ->> h.probe)::bigint from recorder.health_absences n
      where n.observer = h.observer and n.started_at <= lower(part.during)
      order by n.started_at desc limit 1), counted.first), counted.first), counted.last) end as before,
    case when upper(part.during) = upper(interval_whole.during) then counted.last else least(greatest(coalesce((
      select (n.probe_counts -> h.node ->> h.probe)::bigint from recorder.health_absences n
      where n.observer = h.observer and n.started_at <= upper(part.during)
      order by n.started_at desc limit 1), counted.first), counted.first), counted.last) end as until) counts
where h.check_name = '*';

comment on view reporting_internal.node_states is 'The states of each probe as a whole over time. Intervals do not overlap, and have no gaps while an observer watched. Time outside of all intervals is unknown.';
comment on column reporting_internal.node_states.observer is 'The observer: the configured name of its recorder.'; -- text
comment on column reporting_internal.node_states.node is 'The configured node.'; -- text
comment on column reporting_internal.node_states.probe is 'health, readiness or liveness. With :TAG: only the checks with that tag, which do not determine the state of the node.'; -- text
comment on column reporting_internal.node_states.state is 'up, down, unknown or maintenance (announced).'; -- text
comment on column reporting_internal.node_states.started_at is 'Start of the interval.'; -- timestamptz
comment on column reporting_internal.node_states.ended_at is 'Time of the next different state, or the time up to which the interval is settled.'; -- timestamptz
comment on column reporting_internal.node_states.error is 'Error message of the state.'; -- text
comment on column reporting_internal.node_states.reported is 'True if the node returned a report, so that its checks are known.'; -- boolean
comment on column reporting_internal.node_states.is_open is 'True if the state has not ended.'; -- boolean
comment on column reporting_internal.node_states.probes is 'Number of probes in the interval; final once the interval has ended.'; -- bigint
comment on column reporting_internal.node_states.last_error is 'The latest error message.'; -- text
comment on column reporting_internal.node_states.interval_started_at is 'Start of the stored interval that contains this interval. Equal to started_at if the observer was not absent.'; -- timestamptz
comment on column reporting_internal.node_states.interval_ended_at is 'End of the stored interval. A filter by both stored bounds is faster than a filter by started_at and ended_at.'; -- timestamptz
