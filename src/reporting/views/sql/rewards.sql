create or replace view reporting.rewards as
select r.network, r.staking_tx_hash, r.reward_type, r.node_id, r.due_at, r.state, r.estimate, r.received, r.received_at, r.reward_tx_hash,
  r.recipients, r.difference, r.denomination, r.symbol
from reporting.rewards_as_of(now()) r;

comment on view reporting.rewards is 'The rewards of each staking transaction: the estimate, the received amount, the time, the reward transaction and the recipients.';
comment on column reporting.rewards.network is 'The network.'; -- text
comment on column reporting.rewards.staking_tx_hash is 'The staking transaction; for accrued fees, the staking transaction of the validator.'; -- text
comment on column reporting.rewards.reward_type is 'VALIDATOR, DELEGATOR or VALIDATOR_FEE.'; -- text
comment on column reporting.rewards.node_id is 'The validator.'; -- text
comment on column reporting.rewards.due_at is 'End of the stake; for a fee of a validator, the end of the validation. If the stake is not recorded, the time of the reward.'; -- timestamptz
comment on column reporting.rewards.state is 'received; refused: the reward transaction paid nothing; expected: not received yet; not recorded: the receipts of no recipient are recorded.'; -- text
comment on column reporting.rewards.estimate is 'Latest estimate of the service in the smallest unit. For a delegation that was never listed as pending, the fee of the validator is not subtracted.'; -- numeric
comment on column reporting.rewards.received is 'Received amount in the smallest unit. 0: refused. Null: no reward transaction is recorded.'; -- numeric
comment on column reporting.rewards.received_at is 'Time of the reward transaction.'; -- timestamptz
comment on column reporting.rewards.reward_tx_hash is 'The reward transaction.'; -- text
comment on column reporting.rewards.recipients is 'The recipients; before the payment, the expected recipients.'; -- text
comment on column reporting.rewards.difference is 'Received amount minus the estimate.'; -- numeric
comment on column reporting.rewards.denomination is 'Decimals of the token.'; -- bigint
comment on column reporting.rewards.symbol is 'The token.'; -- text
