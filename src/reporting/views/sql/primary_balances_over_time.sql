create or replace function reporting.primary_balances_over_time(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  address text default null, -- Returns only this address, as written in watch.addresses.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC). The other columns contain the last values observed before the end of the day.
  blockchain_id text, -- The chain.
  address text, -- The address.
  balance_group text, -- Group of the balance, such as unlockedUnstaked.
  asset_id text, -- The asset.
  symbol text, -- Symbol of the asset.
  shared_with_chain_id text, -- The chain with which the amount is shared. Null: the amount is not shared.
  amount numeric, -- Amount in the smallest unit of the asset.
  tokens numeric -- The same amount in tokens.
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

comment on function reporting.primary_balances_over_time is 'The balances of watched addresses on the P-, X- and C-chain at the end of each day.';
