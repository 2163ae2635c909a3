create or replace function reporting.native_balances_over_time(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  chain_id text default null, -- Returns only this chain.
  address text default null, -- Returns only this address.
  currency text default 'usd', -- Currency of the price.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC). The other columns contain the last values observed before the end of the day.
  chain_id text, -- The chain.
  address text, -- The address.
  balance numeric, -- Balance in the smallest unit.
  tokens numeric, -- The same amount in tokens.
  symbol text, -- The token.
  price numeric, -- Price of a token, by the last reading of the day. Null: there was no reading.
  value numeric -- Value of the balance at that price.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('native_balances', "from") as since
),
balances as (
  select e.day, h.chain_id, h.address, h.balance, h.balance * ('1e-' || h.decimals)::numeric as tokens, h.symbol
  from reporting.native_balances_history h
  cross join kept k
  cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.since, least("to", as_of)) e
  where (native_balances_over_time.chain_id is null or h.chain_id = native_balances_over_time.chain_id)
    and (native_balances_over_time.address is null or h.address = lower(native_balances_over_time.address))
    and reporting_internal.has_record('native_balances', as_of)
)
select b.day, b.chain_id, b.address, b.balance, b.tokens, b.symbol, v.price, b.tokens * v.price
from balances b
left join lateral (
  select r.price from reporting.native_balance_values r
  where r.chain_id = b.chain_id and r.address = b.address and r.currency_code = lower(currency)
    and r.observed_at >= b.day::timestamp at time zone 'UTC'
    and r.observed_at < least((b.day + 1)::timestamp at time zone 'UTC', "to") and r.observed_at <= as_of
  order by r.observed_at desc limit 1
) v on true
order by 1, 2, 3
$$;

comment on function reporting.native_balances_over_time is 'The balances of watched EVM addresses in the token of their chain at the end of each day, and their values.';
