create or replace function reporting.rewards_received(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  currency text default 'usd', -- Of the price.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  received_at timestamptz, -- When the reward transaction was made.
  network text, -- The network.
  staking_tx_hash text, -- The staking transaction that was rewarded.
  reward_tx_hash text, -- The reward transaction.
  reward_type text, -- VALIDATOR, DELEGATOR or VALIDATOR_FEE.
  node_id text, -- The validator, where the transaction names it.
  addresses text, -- Who got it.
  is_recorded boolean, -- Reward transactions of one of the addresses are recorded at that time. Else others may have paid them, too.
  amount numeric, -- In the smallest unit.
  tokens numeric, -- The same in tokens.
  symbol text, -- The token.
  price numeric, -- Of a token, by the last reading within a day before; null: there was none.
  price_observed_at timestamptz, -- When that price was read.
  value numeric -- The tokens at that price; null: no price was recorded.
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

comment on function reporting.rewards_received is 'Rewards that were paid, a row an output of a reward transaction, at the recorded price of the C-chain''s token.';
