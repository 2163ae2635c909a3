create or replace function reporting.chain_fees(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  chain_id text, -- The chain, such as 43114.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC).
  fees_paid numeric, -- In tokens of the chain.
  tx_count numeric, -- Transactions.
  fees_per_transaction numeric, -- In tokens of the chain.
  gas_used numeric, -- Gas.
  avg_gas_price numeric, -- In nano-tokens.
  max_gas_price numeric -- In nano-tokens.
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

comment on function reporting.chain_fees is 'What was paid in fees on an EVM chain by day, and what gas cost.';
