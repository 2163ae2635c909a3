create or replace function reporting.chain_fees(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  chain_id text, -- The chain, such as 43114.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC).
  fees_paid numeric, -- Total fees in tokens of the chain.
  tx_count numeric, -- Number of transactions.
  fees_per_transaction numeric, -- Average fee of a transaction in tokens of the chain.
  gas_used numeric, -- Total gas used.
  avg_gas_price numeric, -- Average gas price in nano-tokens.
  max_gas_price numeric -- Maximum gas price in nano-tokens.
)
language sql stable parallel safe as $$
select (p.bucket_start at time zone 'UTC')::date as day, max(p.value) filter (where p.metric = 'feesPaid'),
  max(p.value) filter (where p.metric = 'txCount'),
  round(max(p.value) filter (where p.metric = 'feesPaid') / nullif(max(p.value) filter (where p.metric = 'txCount'), 0), 12),
  max(p.value) filter (where p.metric = 'gasUsed'), max(p.value) filter (where p.metric = 'avgGasPrice'),
  max(p.value) filter (where p.metric = 'maxGasPrice')
from reporting.metric_points_as_of(as_of) p
where p.chain_id = chain_fees.chain_id and p.time_interval = 'day'
  and p.metric in ('feesPaid', 'txCount', 'gasUsed', 'avgGasPrice', 'maxGasPrice')
  and p.bucket_start >= (select reporting_internal.kept_from('metric_points', "from")) and p.bucket_start < "to"
group by 1
order by 1
$$;

comment on function reporting.chain_fees is 'Fees and gas of an EVM chain by day.';
