create or replace function reporting.rewards_paid(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  currency text default 'usd', -- Of the price.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  paid_at timestamptz, -- When the stake ended, and with it the reward was due.
  node_id text, -- The validator.
  tx_hash text, -- The staking transaction.
  reward_type text, -- VALIDATOR, DELEGATOR or VALIDATOR_FEE.
  addresses text, -- Who gets it.
  amount numeric, -- As the service last estimated it, in the smallest unit.
  tokens numeric, -- The same in tokens.
  symbol text, -- The token.
  price numeric, -- Of a token, by the last reading within a day before; null: there was none.
  price_observed_at timestamptz, -- When that price was read.
  value numeric -- The tokens at that price; null: no price was recorded.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting.kept_from('pending_rewards', "from") as since
),
last_known as (
  select distinct on (h.network, h.tx_hash, h.reward_type) h.*
  from reporting.pending_rewards_history h
  where h.valid_from <= as_of and reporting.has_record('pending_rewards', as_of)
  order by h.network, h.tx_hash, h.reward_type, h.valid_from desc
),
paid as (
  select k.*, k.estimated_reward_amount * ('1e-' || k.estimated_reward_denomination)::numeric as tokens
  from last_known k cross join kept
  -- What the service dropped before its end was not paid.
  where k.end_timestamp >= kept.since and k.end_timestamp < "to" and k.end_timestamp <= as_of
    and not (k.ended_by = 'gone' and k.valid_to <= as_of and k.valid_to < k.end_timestamp)
)
select p.end_timestamp, p.node_id, p.tx_hash, p.reward_type,
  (select string_agg(a.address, ', ' order by a.address) from jsonb_array_elements_text(p.addresses) as a(address)),
  p.estimated_reward_amount, p.tokens, p.estimated_reward_symbol, v.price, v.observed_at, p.tokens * v.price
from paid p
left join lateral (
  select b.price, b.observed_at
  from reporting.native_balance_values b
  where b.chain_id = case p.network when 'mainnet' then '43114' else '43113' end and b.currency_code = lower(currency)
    and b.observed_at > p.end_timestamp - interval '1 day' and b.observed_at <= p.end_timestamp
  order by b.observed_at desc, b.address
  limit 1
) v on true
order by 1, 3, 4
$$;

comment on function reporting.rewards_paid is 'Rewards of watched stakes that ended, at the recorded price of the C-chain''s token. The network pays a reward only to a validator that was up enough: the amount is the estimate, not a receipt.';
