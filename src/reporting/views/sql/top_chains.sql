create or replace function reporting.top_chains(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  metric text, -- The metric, such as txCount.
  time_interval text default 'day', -- hour, day, week or month: which values are put together.
  most bigint default 10, -- Number of chains.
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
select rank() over (order by c.value desc) as place, c.chain_id, c.value, c.buckets,
  case when c.over_chains = 'sum' then round(c.value / nullif(sum(c.value) over (), 0), 9) end
from reporting.metric_by_chain("from", "to", metric, time_interval, as_of => as_of) c
order by 1, 2
limit most
$$;

comment on function reporting.top_chains is 'The recorded chains with the most of a metric in a window. What does not add up over time is refused with the reason, unless the window holds one value a chain.';
