create or replace function reporting.rewards_pending(
  node_id text default null, -- Returns only stakes with this validator.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  end_timestamp timestamptz, -- End of the stake, at which the reward is due.
  node_id text, -- The validator.
  tx_hash text, -- The staking transaction.
  reward_type text, -- VALIDATOR, DELEGATOR or VALIDATOR_FEE.
  addresses text, -- The recipients.
  progress numeric, -- Progress of the stake in percent.
  stake numeric, -- Amount of the stake in nAVAX.
  stake_avax numeric, -- The same amount in AVAX.
  reward numeric, -- Reward in the smallest unit, as estimated by the service.
  reward_tokens numeric, -- The same amount in tokens.
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

comment on function reporting.rewards_pending is 'Pending rewards of watched stakes.';
