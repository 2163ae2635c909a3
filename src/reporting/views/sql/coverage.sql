create or replace view reporting.coverage as
with recorded_ranges as (
  -- Data before the retained range may have been removed.
  select c.dataset, c.target_key, c.axis, r.covered
  from recorder.coverage c
  left join recorder.retention k on k.dataset = c.dataset and c.axis = 'time'
  cross join lateral (
    select int8multirange(int8range((extract(epoch from k.kept_since) * 1000)::bigint, null)) as range) kept,
  unnest(c.covered * kept.range) as r(covered)
),
-- The prober makes no runs, so its coverage is derived from its ledger.
probed_targets as (
  select t.target_key, t.target ->> 'observer' as observer, t.target ->> 'node' as node, t.target ->> 'probe' as probe
  from recorder.target_datasets d
  join recorder.targets t using (source, target_key)
  join recorder.health_observers o on d.dataset = 'node_health' and o.observer = t.target ->> 'observer'
),
probed_ranges as (
  select t.target_key, r.probed
  from probed_targets t
  cross join lateral (
    select greatest(min(h.started_at), (select k.kept_since from recorder.retention k where k.dataset = 'node_health')) as at
    from recorder.node_health h
    where (h.observer, h.node, h.probe) = (t.observer, t.node, t.probe) and h.check_name = '*') first_probe
  cross join lateral (
    select (
      select p.settled_until
      from reporting_internal.node_probes p
      where (p.observer, p.node, p.probe) = (t.observer, t.node, t.probe)) as until) settled
  -- Intervals of the ledger are contiguous, except while the configuration did not contain the node.
  cross join lateral (
    select coalesce(range_agg(tstzrange(h.started_at, coalesce(h.ended_at, greatest(settled.until, h.started_at)))), '{}') as during
    from recorder.node_health h
    where (h.observer, h.node, h.probe) = (t.observer, t.node, t.probe) and h.check_name = '*') watched
  cross join lateral (
    select coalesce(range_agg(tstzrange(a.started_at, a.ended_at)), '{}') as during
    from recorder.health_absences a
    where a.observer = t.observer) absent
  cross join lateral unnest(
    watched.during * tstzmultirange(tstzrange(first_probe.at, null)) - absent.during) as r(probed)
)
select dataset, target_key as target,
  case axis when 'time' then to_timestamp(lower(covered) / 1000::float8) end as range_start,
  case axis when 'time' then to_timestamp(upper(covered) / 1000::float8) end as range_end,
  case axis when 'height' then lower(covered) end as first_height,
  case axis when 'height' then upper(covered) end as end_height,
  'recorded'::text as reason
from recorded_ranges
union all
select 'node_health', target_key, lower(probed), upper(probed), null, null, 'recorded'
from probed_ranges;

comment on view reporting.coverage is 'Completely recorded data: contiguous ranges by dataset and target. Ranges of time start where data is retained (reporting_internal.retention). Ranges of heights include data that was removed since.';
comment on column reporting.coverage.dataset is 'The dataset.'; -- text
comment on column reporting.coverage.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting.coverage.range_start is 'Start of the range. Null on the axis of heights.'; -- timestamptz
comment on column reporting.coverage.range_end is 'End of the range, exclusive. Null on the axis of heights.'; -- timestamptz
comment on column reporting.coverage.first_height is 'First height of the range. Null on the axis of time.'; -- bigint
comment on column reporting.coverage.end_height is 'End of the range, exclusive. Null on the axis of time.'; -- bigint
comment on column reporting.coverage.reason is 'Always the text recorded. reporting.gaps has the same column, so that both views can be combined.'; -- text
