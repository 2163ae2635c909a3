create or replace function reporting_internal.reward_outputs(
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  network text, -- The network.
  staking_tx_hash text, -- The rewarded staking transaction.
  reward_type text, -- VALIDATOR, DELEGATOR or VALIDATOR_FEE. Null: the transaction paid no reward.
  reward_tx_hash text, -- The transaction that ended the stake.
  received_at timestamptz, -- Time of the block of the transaction.
  node_id text, -- The validator, if it is part of the transaction.
  is_renewal boolean, -- True if the stake continues after the transaction.
  utxo_id text, -- The output.
  addresses text, -- The recipients. Each of them may spend the output if the threshold is 1.
  amount numeric, -- Amount in the smallest unit.
  denomination bigint, -- Decimals of the token.
  symbol text, -- The token.
  is_recorded boolean -- True if reward transactions of one of the addresses are recorded at that time.
)
language sql stable parallel safe as $$
-- Equal to the rows of staking_transactions_as_of, without the error if no transactions are recorded.
with known as materialized (
  select s.network, s.tx_hash, s.tx_type, s.block_timestamp, s.staking_tx_hash, s.reward_tx_hash, s.node_id, s.emitted_utxos
  from reporting.staking_transactions s where s.valid_from <= as_of
  union all
  select c.network, c.tx_hash, c.tx_type, c.block_timestamp, c.staking_tx_hash, c.reward_tx_hash, c.node_id, c.emitted_utxos
  from reporting_internal.staking_transactions_replaced c
  where c.valid_from <= as_of and c.valid_to > as_of
),
payouts as (
  select k.network, coalesce(k.staking_tx_hash, s.tx_hash) as staking_tx_hash, k.tx_hash, k.tx_type, k.block_timestamp,
    k.node_id, k.emitted_utxos
  from known k
  left join known s on k.staking_tx_hash is null and s.network = k.network and s.reward_tx_hash = k.tx_hash and s.tx_hash <> k.tx_hash
  where k.tx_type like 'Reward%Tx' and coalesce(k.staking_tx_hash, s.tx_hash) is not null
),
-- Returned stake is omitted, because it is no reward. An output may be listed twice.
outputs as (
  select distinct on (p.network, p.tx_hash, coalesce(e.value ->> 'utxoId', e.position::text)) p.network, p.tx_hash,
    e.value ->> 'rewardType' as reward_type, e.value ->> 'utxoId' as utxo_id, e.value -> 'addresses' as addresses,
    coalesce(e.value #>> '{asset,amount}', e.value ->> 'amount')::numeric as amount,
    coalesce((e.value #>> '{asset,denomination}')::bigint, 9) as denomination, coalesce(e.value #>> '{asset,symbol}', 'AVAX') as symbol
  from payouts p
  cross join lateral jsonb_array_elements(case jsonb_typeof(p.emitted_utxos) when 'array' then p.emitted_utxos end)
    with ordinality as e(value, position)
  where coalesce(e.value ->> 'rewardType', '') <> '' and coalesce(e.value ->> 'utxoType', '') <> 'STAKE'
    and coalesce(e.value ->> 'staked', 'false') = 'false'
    and coalesce(e.value #>> '{asset,amount}', e.value ->> 'amount') ~ '^\d+$'
  order by p.network, p.tx_hash, coalesce(e.value ->> 'utxoId', e.position::text), e.position
)
select p.network, p.staking_tx_hash, o.reward_type, p.tx_hash, p.block_timestamp, p.node_id, p.tx_type <> 'RewardValidatorTx',
  o.utxo_id, a.list, o.amount, o.denomination, o.symbol,
  exists (
    select from reporting_internal.receipt_coverage(as_of) c
    where c.network = p.network and p.block_timestamp >= c.range_start and (c.range_end is null or p.block_timestamp < c.range_end)
      and c.address = any (string_to_array(a.list, ', ')))
from payouts p
left join outputs o using (network, tx_hash)
left join lateral (
  select string_agg(l.address, ', ' order by l.address) as list
  from (select regexp_replace(n.address, '^[A-Z]-', '') as address from jsonb_array_elements_text(case jsonb_typeof(o.addresses) when 'array' then o.addresses end) as n(address)) l) a on true
$$;

comment on function reporting_internal.reward_outputs is 'The outputs of reward transactions, one row per output, and one row per reward transaction without an output.';
