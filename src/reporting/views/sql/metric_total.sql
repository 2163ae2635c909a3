create or replace function reporting.metric_total(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  metric text, -- The metric, such as txCount.
  chain_ids text[] default null, -- The chains. Null: every recorded chain.
  time_interval text default 'day', -- Interval of the values that are aggregated: hour, day, week or month.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  value numeric, -- The aggregated value, by the rules of reporting.metric_rules.
  chains bigint, -- Number of chains.
  buckets bigint, -- Maximum number of hours, days, weeks or months of a chain.
  first_bucket timestamptz, -- Start of the first interval.
  last_bucket timestamptz -- Start of the last interval.
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

comment on function reporting.metric_total is 'A metric over several days and chains as one number. Values that cannot be aggregated raise an error with the reason.';
