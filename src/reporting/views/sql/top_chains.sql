create or replace function reporting.top_chains(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  metric text, -- The metric, such as txCount.
  time_interval text default 'day', -- Interval of the values that are aggregated: hour, day, week or month.
  most bigint default 10, -- Maximum number of chains.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  rank bigint, -- From 1. Chains with equal values have the same rank.
  chain_id text, -- The chain.
  value numeric, -- Value of the chain in the window.
  buckets bigint, -- Number of hours, days, weeks or months.
  share numeric -- Share of all chains together. Null: the values of chains cannot be aggregated in this metric.
)
language sql stable parallel safe as $$
select rank() over (order by c.value desc) as rank, c.chain_id, c.value, c.buckets,
  case when c.over_chains = 'sum' then round(c.value / nullif(sum(c.value) over (), 0), 9) end
from reporting.metric_by_chain("from", "to", metric, time_interval, as_of => as_of) c
order by 1, 2
limit most
$$;

comment on function reporting.top_chains is 'The recorded chains with the greatest values of a metric in a window. Values that cannot be aggregated over time raise an error with the reason, unless the window contains one value per chain.';
