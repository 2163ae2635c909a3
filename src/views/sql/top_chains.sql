create or replace function reporting.top_chains(
  "from" timestamptz, -- The first moment.
  "to" timestamptz, -- The end, itself not in it.
  metric text, -- The metric, such as txCount.
  time_interval text default 'day', -- hour, day, week or month: which values are put together.
  most bigint default 10, -- So many chains.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  place bigint, -- From 1; chains of one value share it.
  chain_id text, -- The chain.
  value numeric, -- Its value in the window.
  buckets bigint, -- Of how many hours, days, weeks or months.
  share numeric -- Of all chains together; null: chains do not add up in this metric.
)
language sql stable parallel safe as $$
with rule as (
  select max(r.over_time) as over_time, max(r.over_chains) as over_chains, top_chains.metric || ' '
    || coalesce(max(r.reason), 'is not in reporting.metric_rules: whether its values add up is not known') as reason
  from reporting.metric_rules r where r.metric = top_chains.metric
),
chains as (
  select p.chain_id, count(*) as buckets,
    case
      when count(*) = 1 then max(p.value)
      when r.over_time = 'sum' then sum(p.value)
      when r.over_time = 'max' then max(p.value)
      when r.over_time = 'last' then (array_agg(p.value order by p.bucket_start desc))[1]
      else reporting.refused(r.reason)::numeric
    end as value
  from reporting.metric_points_as_of(as_of) p cross join rule r
  where p.metric = top_chains.metric and p.time_interval = top_chains.time_interval
    and p.bucket_start >= "from" and p.bucket_start < "to" and p.chain_id not in ('total', 'mainnet', 'testnet')
  group by p.chain_id, r.over_time, r.reason
)
select rank() over (order by c.value desc) as place, c.chain_id, c.value, c.buckets,
  case when r.over_chains = 'sum' then round(c.value / nullif(sum(c.value) over (), 0), 9) end
from chains c cross join rule r
order by 1, 2
limit most
$$;

comment on function reporting.top_chains is 'The recorded chains with the most of a metric in a window. What does not add up over time is refused with the reason, unless the window holds one value a chain.';
