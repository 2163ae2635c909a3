create or replace view reporting.gaps as
with known_gaps as (
  select dataset, target_key, axis, range as missing, reason from recorder.gaps
),
-- Between the expected begin and the newest recorded moment: neither recorded nor known to be lost.
unrecorded as (
  select c.dataset, c.target_key, c.axis, m.missing, 'not recorded yet' as reason
  from recorder.coverage c
  join recorder.target_datasets t using (dataset, target_key)
  cross join lateral unnest(
    int8multirange(int8range(least(t.expected_from, upper(c.covered)), upper(c.covered))) - c.covered
    - coalesce((
        select range_agg(g.range) from recorder.gaps g
        where g.dataset = c.dataset and g.target_key = c.target_key), '{}')) as m(missing)
  where t.expected_from is not null
),
-- The prober makes no runs: what it missed is when its observer did not look.
unprobed as (
  select t.target_key, a.started_at, a.ended_at, a.reason
  from recorder.target_datasets d
  join recorder.targets t using (source, target_key)
  join recorder.health_observers o on d.dataset = 'node_health' and o.observer = t.target ->> 'observer'
  join recorder.health_absences a on a.observer = o.observer
  where a.ended_at > (
    select min(h.started_at)
    from recorder.node_health h
    where (h.observer, h.node, h.probe) = (t.target ->> 'observer', t.target ->> 'node', t.target ->> 'probe')
      and h.check_name = '*')
)
select dataset, target_key as target,
  case axis when 'time' then to_timestamp(lower(missing) / 1000.0) end as range_start,
  case axis when 'time' then to_timestamp(upper(missing) / 1000.0) end as range_end,
  case axis when 'height' then lower(missing) end as first_height,
  case axis when 'height' then upper(missing) end as end_height,
  reason
from (select * from known_gaps union all select * from unrecorded) of_runs
union all
select 'node_health', target_key, started_at, ended_at, null, null, reason
from unprobed;

comment on view reporting.gaps is 'What is missing between the expected begin and the newest recorded moment, and why.';
comment on column reporting.gaps.dataset is 'The dataset.'; -- text
comment on column reporting.gaps.target is 'What was asked about.'; -- text
comment on column reporting.gaps.range_start is 'First moment that is missing; null on the axis of heights.'; -- timestamptz
comment on column reporting.gaps.range_end is 'End of what is missing; null on the axis of heights.'; -- timestamptz
comment on column reporting.gaps.first_height is 'First height that is missing; null on the axis of time.'; -- bigint
comment on column reporting.gaps.end_height is 'End of what is missing; null on the axis of time.'; -- bigint
comment on column reporting.gaps.reason is 'Why: "not recorded yet" can still be fetched, anything else cannot.'; -- text
