create or replace function reporting.primary_balances_over_time(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  address text default null, -- Only this address, as watch.addresses has it.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC); what follows was so at its end.
  blockchain_id text, -- The chain.
  address text, -- The address.
  balance_group text, -- Such as unlockedUnstaked.
  asset_id text, -- The asset.
  symbol text, -- Its symbol.
  shared_with_chain_id text, -- The chain with which it is shared; null: with none.
  amount numeric, -- In the asset's smallest unit.
  tokens numeric -- The same in tokens.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('primary_balances', "from") as since
)
select e.day, h.blockchain_id, h.addresses, h.balance_group, h.asset_id, h.symbol, h.shared_with_chain_id, h.amount,
  h.amount * ('1e-' || h.denomination)::numeric
from reporting.primary_balances_history h
cross join kept k
cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.since, least("to", as_of)) e
where (primary_balances_over_time.address is null or h.addresses = primary_balances_over_time.address)
  and reporting_internal.has_record('primary_balances', as_of)
order by 1, 2, 3, 4, 5, 7
$$;

comment on function reporting.primary_balances_over_time is 'What watched addresses held on the P-, X- and C-chain at the end of each day.';
