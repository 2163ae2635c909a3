create or replace function reporting.metric_by_chain(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  metric text, -- The metric, such as txCount.
  time_interval text default 'day', -- Interval of the values that are aggregated: hour, day, week or month.
  chain_ids text[] default null, -- The chains. Null: every recorded chain, without the totals over chains.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  chain_id text, -- The chain.
  value numeric, -- The aggregated value, by the rules of reporting.metric_rules.
  buckets bigint, -- Number of hours, days, weeks or months.
  first_bucket timestamptz, -- Start of the first interval.
  last_bucket timestamptz, -- Start of the last interval.
  over_chains text, -- Aggregation over several chains: sum or max. Null: the values of chains cannot be aggregated.
  reason text -- Reason why the values cannot be aggregated. Null: they can be aggregated.
)
language sql stable parallel safe as $$
with rule as (
  select max(r.over_time) as over_time, max(r.over_chains) as over_chains, metric_by_chain.metric || ' '
    || case count(*) when 0 then 'is not in reporting.metric_rules: the rule for its aggregation is unknown' else max(r.reason) end as reason
  from reporting.metric_rules r where r.metric = metric_by_chain.metric
)
select p.chain_id,
  case
    when count(*) = 1 then max(p.value)
    when r.over_time = 'sum' then sum(p.value)
    when r.over_time = 'max' then max(p.value)
    when r.over_time = 'last' then (array_agg(p.value order by p.bucket_start desc))[1]
    else reporting_internal.refused(r.reason)::numeric
  end as value,
  count(*) as buckets, min(p.bucket_start) as first_bucket, max(p.bucket_start) as last_bucket, r.over_chains, r.reason
from reporting.metric_points_as_of(as_of) p cross join rule r
where p.metric = metric_by_chain.metric and p.time_interval = metric_by_chain.time_interval
  and p.bucket_start >= (select reporting_internal.kept_from('metric_points', "from")) and p.bucket_start < "to"
  and case when chain_ids is null then p.chain_id not in ('total', 'mainnet', 'testnet') else p.chain_id = any (chain_ids) end
group by p.chain_id, r.over_time, r.over_chains, r.reason
$$;

comment on function reporting.metric_by_chain is 'A metric over several days as one number per chain. Values that cannot be aggregated over time raise an error with the reason, unless the window contains one value per chain.';
