create or replace view reporting.rewards as
select r.network, r.staking_tx_hash, r.reward_type, r.node_id, r.due_at, r.state, r.estimate, r.received, r.received_at, r.reward_tx_hash,
  r.recipients, r.difference, r.denomination, r.symbol
from reporting.rewards_as_of(now()) r;

comment on view reporting.rewards is 'The rewards of each staking transaction: what was estimated, and what was received, when, by which transaction and by whom.';
comment on column reporting.rewards.network is 'The network.'; -- text
comment on column reporting.rewards.staking_tx_hash is 'The staking transaction; of fees that were accrued, that of the validator.'; -- text
comment on column reporting.rewards.reward_type is 'VALIDATOR, DELEGATOR or VALIDATOR_FEE.'; -- text
comment on column reporting.rewards.node_id is 'The validator.'; -- text
comment on column reporting.rewards.due_at is 'When the stake ends; of a validator''s fee, when the validation ends. Where the stake is not recorded, when the reward came.'; -- timestamptz
comment on column reporting.rewards.state is 'received; refused: the reward transaction paid nothing; expected: not received yet; not recorded: the receipts of no recipient are recorded.'; -- text
comment on column reporting.rewards.estimate is 'What the service estimated last, in the smallest unit. Of a delegation that was never listed as pending, before the validator''s fee.'; -- numeric
comment on column reporting.rewards.received is 'What came, in the smallest unit; 0: refused; null: no reward transaction is recorded.'; -- numeric
comment on column reporting.rewards.received_at is 'When the reward transaction was made.'; -- timestamptz
comment on column reporting.rewards.reward_tx_hash is 'The reward transaction.'; -- text
comment on column reporting.rewards.recipients is 'Who got it; before that, who is to get it.'; -- text
comment on column reporting.rewards.difference is 'Received less estimate.'; -- numeric
comment on column reporting.rewards.denomination is 'Decimals of the token.'; -- bigint
comment on column reporting.rewards.symbol is 'The token.'; -- text
