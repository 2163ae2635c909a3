create or replace function reporting.rewards_received(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  currency text default 'usd', -- Currency of the price.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  received_at timestamptz, -- Time of the reward transaction.
  network text, -- The network.
  staking_tx_hash text, -- The rewarded staking transaction.
  reward_tx_hash text, -- The reward transaction.
  reward_type text, -- VALIDATOR, DELEGATOR or VALIDATOR_FEE.
  node_id text, -- The validator, if it is part of the transaction.
  addresses text, -- The recipients.
  is_recorded boolean, -- True if reward transactions of one of the addresses are recorded at that time. Otherwise there may be further rewards.
  amount numeric, -- Amount in the smallest unit.
  tokens numeric, -- The same amount in tokens.
  symbol text, -- The token.
  price numeric, -- Price of a token, by the last reading within 24 hours before the reward transaction. Null: there was no reading.
  price_observed_at timestamptz, -- Time of the price reading.
  value numeric -- Value of the tokens at that price. Null: no price was recorded.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('staking_transactions', "from") as since
)
select o.received_at, o.network, o.staking_tx_hash, o.reward_tx_hash, o.reward_type, o.node_id, o.addresses, o.is_recorded, o.amount, t.tokens,
  o.symbol, v.price, v.observed_at, t.tokens * v.price
from reporting_internal.reward_outputs(as_of) o
cross join kept k
cross join lateral (select o.amount * ('1e-' || o.denomination)::numeric as tokens) t
left join lateral (
  select b.price, b.observed_at
  from reporting.native_balance_values b
  where o.symbol = 'AVAX' and b.chain_id = case when o.network in ('fuji', 'testnet') then '43113' else '43114' end and b.currency_code = lower(currency)
    and b.observed_at > o.received_at - interval '24 hours' and b.observed_at <= o.received_at
  order by b.observed_at desc, b.address
  limit 1
) v on true
where o.reward_type is not null and o.received_at >= k.since and o.received_at < "to" and o.received_at <= as_of
  and case when exists (
    select from reporting_internal.recorded_since r where r.dataset = 'staking_transactions' and r.recorded_since <= as_of) then true
  else reporting_internal.has_record('pending_rewards', as_of) end
order by 1, 4, 5, 7
$$;

comment on function reporting.rewards_received is 'Paid rewards, one row per output of a reward transaction, at the recorded price of the token of the C-chain.';
