create or replace function reporting.metric_week_over_week(
  "from" timestamptz, -- Returns weeks that start at this moment or later. Weeks that are not completely retained (reporting_internal.retention) are omitted.
  "to" timestamptz, -- Returns weeks that start before this moment.
  metric text, -- The metric, such as txCount.
  chain_id text default null, -- Returns only this chain.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  chain_id text, -- The chain.
  week date, -- The week, by its Monday.
  value numeric, -- The value of the week: as reported by the service, or aggregated from days if the service reports no weeks.
  value_before numeric, -- The value of the previous week. Null: the previous week has no value, or days are missing.
  change numeric, -- Difference from the previous week.
  change_percent numeric, -- Difference in percent of the previous week.
  is_complete boolean -- True if no day is missing, and a later value of the same interval was recorded: the week had ended when its value was requested.
)
language sql stable parallel safe as $$
with kept as materialized (
  select date_trunc('week', k.since at time zone 'UTC' + interval '7 days' - interval '1 microsecond') at time zone 'UTC' as since
  from reporting_internal.kept_from('metric_points',
    date_trunc('week', "from" at time zone 'UTC') at time zone 'UTC' - interval '168 hours') as k(since)
),
points as (
  select p.chain_id, p.time_interval, p.bucket_start at time zone 'UTC' as starts_at, p.value
  from reporting.metric_points_as_of(as_of) p
  where p.metric = metric_week_over_week.metric and p.time_interval in ('day', 'week')
    and (metric_week_over_week.chain_id is null or p.chain_id = metric_week_over_week.chain_id)
    and p.bucket_start >= (select k.since from kept k)
    and p.bucket_start < "to" + interval '168 hours'
),
rule as (
  select coalesce(max(r.over_time), '') as over_time, metric_week_over_week.metric || ' '
    || coalesce(max(r.reason), 'is not in reporting.metric_rules: the rule for its aggregation is unknown') as reason
  from reporting.metric_rules r where r.metric = metric_week_over_week.metric
),
weeks as (
  select p.chain_id, p.time_interval, p.starts_at::date as week, p.value, true as is_whole from points p where p.time_interval = 'week'
  union all
  select p.chain_id, p.time_interval, date_trunc('week', p.starts_at)::date,
    case r.over_time
      when 'sum' then sum(p.value)
      when 'max' then max(p.value)
      when 'last' then (array_agg(p.value order by p.starts_at desc))[1]
      else reporting_internal.refused(r.reason)::numeric
    end, count(*) = 7
  from points p cross join rule r
  where p.time_interval = 'day' and not exists (select from points w where w.time_interval = 'week' and w.chain_id = p.chain_id)
  group by 1, 2, 3, r.over_time, r.reason
),
compared as (
  select w.chain_id, w.time_interval, w.week, w.value, w.is_whole, b.value as value_before
  from weeks w left join weeks b on b.chain_id = w.chain_id and b.week = w.week - 7 and b.is_whole
)
select c.chain_id, c.week, c.value, c.value_before, c.value - c.value_before,
  round((c.value - c.value_before) * 100 / nullif(c.value_before, 0), 4),
  c.is_whole and exists (
    select from points p where (p.chain_id, p.time_interval) = (c.chain_id, c.time_interval) and p.starts_at >= c.week + 7)
from compared c
where c.week::timestamp at time zone 'UTC' >= "from" and c.week::timestamp at time zone 'UTC' < "to"
order by c.chain_id, c.week
$$;

comment on function reporting.metric_week_over_week is 'A metric by week, compared with the previous week. Distinct counts are taken only from the weekly values of the service.';
