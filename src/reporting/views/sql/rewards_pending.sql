create or replace function reporting.rewards_pending(
  node_id text default null, -- Only of stakes with this validator.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  end_timestamp timestamptz, -- When the stake ends, and the reward is due.
  node_id text, -- The validator.
  tx_hash text, -- The staking transaction.
  reward_type text, -- VALIDATOR, DELEGATOR or VALIDATOR_FEE.
  addresses text, -- Who gets it.
  progress numeric, -- How far the stake had come, in percent.
  stake numeric, -- In nAVAX.
  stake_avax numeric, -- The same in AVAX.
  reward numeric, -- As the service estimates it, in the smallest unit.
  reward_tokens numeric, -- The same in tokens.
  symbol text -- The token.
)
language sql stable parallel safe as $$
select r.end_timestamp, r.node_id, r.tx_hash, r.reward_type,
  (select string_agg(a.address, ', ' order by a.address) from jsonb_array_elements_text(r.addresses) as a(address)),
  (select p.progress from reporting.pending_reward_progress p
    where (p.network, p.tx_hash, p.reward_type) = (r.network, r.tx_hash, r.reward_type) and p.observed_at <= as_of
    order by p.observed_at desc limit 1),
  r.amount_staked, r.amount_staked * 0.000000001, r.estimated_reward_amount,
  r.estimated_reward_amount * ('1e-' || r.estimated_reward_denomination)::numeric,
  r.estimated_reward_symbol
from reporting.pending_rewards_as_of(as_of) r
where r.end_timestamp > as_of and (rewards_pending.node_id is null or r.node_id = rewards_pending.node_id)
order by r.end_timestamp, r.tx_hash, r.reward_type
$$;

comment on function reporting.rewards_pending is 'Rewards that watched stakes are about to bring.';
