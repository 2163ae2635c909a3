create or replace view reporting.node_health_history as
select s.observer, s.node, s.probe, '*'::text as check_name, s.state, s.started_at, s.ended_at, s.is_open, s.probes,
  s.error, null::jsonb as message, s.last_error, null::jsonb as last_message, null::timestamptz as failing_since,
  null::bigint as failures
from reporting.node_states s
union all
-- A check is known while the whole probe reports and is not in maintenance; else it is as the whole is.
select h.observer, h.node, h.probe, h.check_name, part.state, lower(part.during), upper(part.during),
  h.ended_at is null and upper(part.during) = p.settled_until,
  looks.until - looks.before,
  part.error,
  case when part.of_check then h.message end,
  case when part.of_check then coalesce(h.last_error, newest.words ->> 'error', h.error) else part.error end,
  case when part.of_check then coalesce(h.last_message, newest.words -> 'message', h.message) end,
  case when part.of_check then h.failing_since end,
  case when part.of_check then coalesce(h.failures, (newest.words ->> 'failures')::bigint) end
from reporting_internal.node_probes p
-- Once a probe: when the whole did not report or was in maintenance, together and part by part.
cross join lateral (
  select range_agg(tstzrange(s.started_at, s.ended_at)) as during, array_agg(tstzrange(s.started_at, s.ended_at)) as parts,
    array_agg(s.state) as states, array_agg(s.error) as errors
  from reporting.node_states s
  where (s.observer, s.node, s.probe) = (p.observer, p.node, p.probe) and (not s.reported or s.state = 'maintenance')) unreported
join recorder.node_health h on (h.observer, h.node, h.probe) = (p.observer, p.node, p.probe)
-- How an open interval is worded at the last is kept with its probe; with itself once it ended.
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
-- The counter of the probe where the part starts and ends: of the check, of the whole, or as the last absence left it.
cross join lateral (
  select h.probes_before as first, coalesce(h.probes_before + h.probes, p.probes) as last) counted
cross join lateral (
  select case when lower(part.during) = h.started_at then counted.first else least(greatest(coalesce((
      select w.probes_before from recorder.node_health w
      where (w.observer, w.node, w.probe, w.check_name) = (h.observer, h.node, h.probe, '*') and w.started_at = lower(part.during)), (
      select (n.looks -> h.node ->> h.probe)::bigint from recorder.health_absences n
      where n.observer = h.observer and n.started_at <= lower(part.during)
      order by n.started_at desc limit 1), counted.first), counted.first), counted.last) end as before,
    case when upper(part.during) = upper(interval_whole.during) then counted.last else least(greatest(coalesce((
      select w.probes_before from recorder.node_health w
      where (w.observer, w.node, w.probe, w.check_name) = (h.observer, h.node, h.probe, '*') and w.started_at = upper(part.during)), (
      select (n.looks -> h.node ->> h.probe)::bigint from recorder.health_absences n
      where n.observer = h.observer and n.started_at <= upper(part.during)
      order by n.started_at desc limit 1), counted.first), counted.first), counted.last) end as until) looks
where h.check_name <> '*';

comment on view reporting.node_health_history is 'What was said of each probe (check *) and of each check, as intervals in which nothing changed.';
comment on column reporting.node_health_history.observer is 'The recorder that looked, by its configured name.'; -- text
comment on column reporting.node_health_history.node is 'The configured node.'; -- text
comment on column reporting.node_health_history.probe is 'health, readiness or liveness; with :TAG, of the checks with that tag only, which never speaks for the node.'; -- text
comment on column reporting.node_health_history.check_name is 'A check of the node, or * for the probe as a whole.'; -- text
comment on column reporting.node_health_history.state is 'up, down, unknown or maintenance (announced).'; -- text
comment on column reporting.node_health_history.started_at is 'The first moment.'; -- timestamptz
comment on column reporting.node_health_history.ended_at is 'When something else was said, or up to when it is settled.'; -- timestamptz
comment on column reporting.node_health_history.is_open is 'It is still so.'; -- boolean
comment on column reporting.node_health_history.probes is 'Looks in the interval; final once it has ended.'; -- bigint
comment on column reporting.node_health_history.error is 'Why.'; -- text
comment on column reporting.node_health_history.message is 'What a failing check said beside its error.'; -- jsonb
comment on column reporting.node_health_history.last_error is 'Why, in the latest words: durations, shares, counts, times and ids that move are no change.'; -- text
comment on column reporting.node_health_history.last_message is 'What a failing check said beside its error at the last.'; -- jsonb
comment on column reporting.node_health_history.failing_since is 'Since when the check fails by the account of the node itself; can lie before the first look.'; -- timestamptz
comment on column reporting.node_health_history.failures is 'How often it failed in a row by the count of the node itself, at the last.'; -- bigint
