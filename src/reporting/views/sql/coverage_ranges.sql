create or replace view reporting_internal.coverage_ranges as
with kept as not materialized (
  -- The retained range on the axis of time. Earlier rows may have been removed.
  select dataset, 'time'::text as axis,
    int8multirange(int8range((extract(epoch from kept_since) * 1000)::bigint, null)) as range
  from recorder.retention
),
known_coverage as not materialized (
  select c.dataset, c.target_key, c.axis, case when k.range is null then c.covered else c.covered * k.range end as covered, upper(c.covered) as until
  from recorder.coverage c
  left join kept k using (dataset, axis)
  where not isempty(c.covered)
),
known_gaps as not materialized (
  select g.dataset, g.target_key, g.axis, case when k.range is null then g.range else g.range * range_merge(k.range) end as range, g.reason
  from recorder.gaps g
  left join kept k using (dataset, axis)
  where k.range is null or k.range && g.range
),
lost as (
  select dataset, target_key, axis, range_agg(range) as ranges
  from known_gaps
  group by dataset, target_key, axis
),
expectations as (
  select dataset, target_key, min(expected_from) as expected_from
  from recorder.target_datasets
  group by dataset, target_key
),
targets as (
  select dataset, target_key, axis, case axis when 'time' then 1000 else 1 end as unit, coalesce(l.ranges, '{}') as lost,
    coalesce(c.covered, '{}') as covered,
    case when e.expected_from is not null and c.covered is not null
      then int8multirange(int8range(least(e.expected_from, c.until), c.until)) * coalesce(k.range, '{(,)}') else '{}' end as expected
  from known_coverage c
  full join lost l using (dataset, target_key, axis)
  left join expectations e using (dataset, target_key)
  left join kept k using (dataset, axis)
),
-- The prober makes no runs, so its coverage is derived from its ledger, and its gaps are the absences of its observer.
probed as (
  select t.target_key, w.watched, range_merge(w.watched) as whole, a.absent, a.parts, a.reasons
  from recorder.target_datasets d
  join recorder.targets t using (source, target_key)
  join recorder.health_observers o on d.dataset = 'node_health' and o.observer = t.target ->> 'observer'
  cross join lateral (
    select greatest(min(h.started_at), (select k.kept_since from recorder.retention k where k.dataset = 'node_health')) as at
    from recorder.node_health h
    where (h.observer, h.node, h.probe) = (o.observer, t.target ->> 'node', t.target ->> 'probe') and h.check_name = '*') first_probe
  cross join lateral (
    select (
      select p.settled_until
      from reporting_internal.node_probes p
      where (p.observer, p.node, p.probe) = (o.observer, t.target ->> 'node', t.target ->> 'probe')) as until) settled
  -- Intervals of the ledger are contiguous, except while the configuration did not contain the node.
  cross join lateral (
    select coalesce(range_agg(tstzrange(h.started_at, coalesce(h.ended_at, greatest(settled.until, h.started_at)))), '{}')
      * tstzmultirange(tstzrange(first_probe.at, null)) as watched
    from recorder.node_health h
    where (h.observer, h.node, h.probe) = (o.observer, t.target ->> 'node', t.target ->> 'probe') and h.check_name = '*') w
  cross join lateral (
    select coalesce(range_agg(tstzrange(n.started_at, n.ended_at)), '{}') as absent,
      array_agg(tstzrange(n.started_at, n.ended_at)) as parts, array_agg(n.reason) as reasons
    from recorder.health_absences n
    where n.observer = o.observer and n.ended_at > first_probe.at) a
),
parts_of_probed as (
  select p.target_key, part.kind, part.reason, part.during
  from probed p
  cross join lateral (
    select 'recorded', 'recorded', unnest(p.watched - p.absent)
    union all
    select 'missing', m.reason, m.during * p.whole
    from unnest(p.parts, p.reasons) as m(during, reason)
    where m.during && p.whole
    union all
    select 'missing', 'not observed: the configuration did not contain it',
      unnest(tstzmultirange(p.whole) - p.watched - p.absent)
    union all
    select 'known', 'known', p.whole
    where not isempty(p.whole)) as part(kind, reason, during)
)
select dataset, target_key as target, axis, 'recorded'::text as kind, 'recorded'::text as reason,
  case axis when 'time' then 1000 else 1 end * lower(part) as begins, case axis when 'time' then 1000 else 1 end * upper(part) as ends
from known_coverage, unnest(covered) as part
union all
select dataset, target_key, axis, 'missing', reason,
  case axis when 'time' then 1000 else 1 end * lower(range), case axis when 'time' then 1000 else 1 end * upper(range)
from known_gaps
union all
select t.dataset, t.target_key, t.axis, part.kind, part.reason, t.unit * lower(part.range), t.unit * upper(part.range)
from targets t
cross join lateral (
  -- Ranges between the expected start and the newest recorded moment that are neither recorded nor known to be lost.
  select 'missing', 'not recorded yet', unnest(t.expected - t.covered - t.lost)
  union all
  select 'known', 'known', unnest(t.expected + t.covered + t.lost)) as part(kind, reason, range)
union all
select 'node_health', target_key, 'time', kind, reason,
  (extract(epoch from lower(during)) * 1000000)::bigint, (extract(epoch from upper(during)) * 1000000)::bigint
from parts_of_probed;

comment on view reporting_internal.coverage_ranges is 'Recorded ranges (reporting.coverage), missing ranges (reporting.gaps), and their union (known). The bounds are integers, because computations with integers are faster than with times.';
comment on column reporting_internal.coverage_ranges.dataset is 'The dataset.'; -- text
comment on column reporting_internal.coverage_ranges.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting_internal.coverage_ranges.axis is 'Axis of the range: time or height.'; -- text
comment on column reporting_internal.coverage_ranges.kind is 'recorded, missing, or known (the union of both).'; -- text
comment on column reporting_internal.coverage_ranges.reason is 'Reason why the range is missing; otherwise the kind.'; -- text
comment on column reporting_internal.coverage_ranges.begins is 'Start of the range: microseconds since 1970, or a height.'; -- bigint
comment on column reporting_internal.coverage_ranges.ends is 'End of the range, exclusive: microseconds since 1970, or a height.'; -- bigint
