create or replace function reporting.metric_total(
  "from" timestamptz, -- The first moment.
  "to" timestamptz, -- The end, itself not in it.
  metric text, -- The metric, such as txCount.
  chain_ids text[] default null, -- These chains; null: every recorded one.
  time_interval text default 'day', -- hour, day, week or month: which values are put together.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  value numeric, -- All values together, by the rules of reporting.metric_rules.
  chains bigint, -- Of so many chains.
  buckets bigint, -- The most hours, days, weeks or months that one of them has.
  first_bucket timestamptz, -- Start of the first.
  last_bucket timestamptz -- Start of the last.
)
language sql stable parallel safe as $$
with rule as (
  select max(r.over_time) as over_time, max(r.over_chains) as over_chains, metric_total.metric || ' '
    || coalesce(max(r.reason), 'is not in reporting.metric_rules: whether its values add up is not known') as reason
  from reporting.metric_rules r where r.metric = metric_total.metric
),
of_chains as (
  select p.chain_id, count(*) as buckets, min(p.bucket_start) as first_bucket, max(p.bucket_start) as last_bucket,
    case
      when count(*) = 1 then max(p.value)
      when r.over_time = 'sum' then sum(p.value)
      when r.over_time = 'max' then max(p.value)
      when r.over_time = 'last' then (array_agg(p.value order by p.bucket_start desc))[1]
      else reporting.refused(r.reason)::numeric
    end as value
  from reporting.metric_points_as_of(as_of) p cross join rule r
  where p.metric = metric_total.metric and p.time_interval = metric_total.time_interval
    and p.bucket_start >= "from" and p.bucket_start < "to"
    and case when chain_ids is null then p.chain_id not in ('total', 'mainnet', 'testnet') else p.chain_id = any (chain_ids) end
  group by p.chain_id, r.over_time, r.reason
)
select
  case
    when count(*) < 2 then max(c.value)
    when r.over_chains = 'sum' then sum(c.value)
    when r.over_chains = 'max' then max(c.value)
    else reporting.refused(r.reason)::numeric
  end,
  count(*), max(c.buckets), min(c.first_bucket), max(c.last_bucket)
from of_chains c cross join rule r
group by r.over_chains, r.reason
$$;

comment on function reporting.metric_total is 'A metric of several days and chains as one number. What does not add up is refused with the reason.';
