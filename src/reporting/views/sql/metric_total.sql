create or replace function reporting.metric_total(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  metric text, -- The metric, such as txCount.
  chain_ids text[] default null, -- These chains; null: every recorded one.
  time_interval text default 'day', -- hour, day, week or month: which values are put together.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  value numeric, -- All values together, by the rules of reporting.metric_rules.
  chains bigint, -- Number of chains.
  buckets bigint, -- The most hours, days, weeks or months that one of them has.
  first_bucket timestamptz, -- Start of the first.
  last_bucket timestamptz -- Start of the last.
)
language sql stable parallel safe as $$
select
  case
    when count(*) < 2 then max(c.value)
    when c.over_chains = 'sum' then sum(c.value)
    when c.over_chains = 'max' then max(c.value)
    else reporting_internal.refused(c.reason)::numeric
  end,
  count(*), max(c.buckets), min(c.first_bucket), max(c.last_bucket)
from reporting.metric_by_chain("from", "to", metric, time_interval, chain_ids, as_of) c
group by c.over_chains, c.reason
$$;

comment on function reporting.metric_total is 'A metric of several days and chains as one number. What does not add up is refused with the reason.';
