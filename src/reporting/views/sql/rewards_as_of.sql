create or replace function reporting.rewards_as_of(
  at timestamptz -- The moment.
)
returns table (
  network text, -- The network.
  staking_tx_hash text, -- The staking transaction; for accrued fees, the staking transaction of the validator.
  reward_type text, -- VALIDATOR, DELEGATOR or VALIDATOR_FEE.
  node_id text, -- The validator.
  due_at timestamptz, -- End of the stake; for a fee of a validator, the end of the validation. If the stake is not recorded, the time of the reward.
  state text, -- received; refused: the reward transaction paid nothing; expected: not received yet; not recorded: the receipts of no recipient are recorded.
  estimate numeric, -- Latest estimate of the service in the smallest unit. For a delegation that was never listed as pending, the fee of the validator is not subtracted.
  received numeric, -- Received amount in the smallest unit. 0: refused. Null: no reward transaction is recorded.
  received_at timestamptz, -- Time of the reward transaction.
  reward_tx_hash text, -- The reward transaction.
  recipients text, -- The recipients; before the payment, the expected recipients.
  difference numeric, -- Received amount minus the estimate.
  denomination bigint, -- Decimals of the token.
  symbol text -- The token.
)
language sql stable parallel safe as $$
with pending as (
  select distinct on (h.network, h.tx_hash, h.reward_type) h.network, h.tx_hash, h.reward_type, h.node_id, h.start_timestamp,
    h.end_timestamp, h.estimated_reward_amount as amount, h.estimated_reward_denomination as denomination,
    h.estimated_reward_symbol as symbol, h.addresses,
    -- A reward that the service dropped before the end of the stake is not expected.
    coalesce(h.ended_by = 'gone' and h.valid_to <= at and h.valid_to < h.end_timestamp, false) as is_dropped
  from reporting.pending_rewards_history h
  where h.valid_from <= at
  order by h.network, h.tx_hash, h.reward_type, h.valid_from desc
),
stakes as (
  select s.network, s.tx_hash, case when s.tx_type like '%Delegator%' then 'DELEGATOR' else 'VALIDATOR' end as reward_type, s.node_id,
    s.start_timestamp, s.end_timestamp, s.estimated_reward as amount, 9::bigint as denomination, 'AVAX' as symbol,
    s.reward_addresses as addresses, false as is_dropped
  from (
    select n.network, n.tx_hash, n.tx_type, n.node_id, n.subnet_id, n.start_timestamp, n.end_timestamp, n.estimated_reward, n.reward_addresses
    from reporting.staking_transactions n where n.valid_from <= at
    union all
    select c.network, c.tx_hash, c.tx_type, c.node_id, c.subnet_id, c.start_timestamp, c.end_timestamp, c.estimated_reward, c.reward_addresses
    from reporting_internal.staking_transactions_replaced c
    where c.valid_from <= at and c.valid_to > at) s
  where s.tx_type like 'Add%' and s.estimated_reward is not null
    and coalesce(s.subnet_id, '11111111111111111111111111111111LpoYY') = '11111111111111111111111111111111LpoYY'
),
estimates as materialized (
  select e.*, (
    select string_agg(a.address, ', ' order by a.address)
    from (select regexp_replace(n.address, '^[A-Z]-', '') as address
      from jsonb_array_elements_text(case jsonb_typeof(e.addresses) when 'array' then e.addresses end) as n(address)) a) as recipients
  from (
    select * from pending
    union all
    select s.* from stakes s
    where not exists (select from pending p where (p.network, p.tx_hash, p.reward_type) = (s.network, s.tx_hash, s.reward_type))) e
),
outputs as materialized (
  select * from reporting_internal.reward_outputs(at)
),
payouts as materialized (
  select o.network, o.staking_tx_hash, o.reward_tx_hash, o.received_at, o.is_renewal, min(o.node_id) as node_id
  from outputs o group by 1, 2, 3, 4, 5
),
received as materialized (
  select o.network, o.staking_tx_hash, o.reward_tx_hash, o.reward_type, sum(o.amount) as amount, min(o.denomination) as denomination,
    min(o.symbol) as symbol, string_agg(distinct o.addresses, ', ') as recipients
  from outputs o where o.reward_type is not null group by 1, 2, 3, 4
),
-- A fee is paid with the reward of the delegation, or is accrued and paid when the validation ends.
fees as materialized (
  select f.network, f.tx_hash, f.amount, v.tx_hash as validation, coalesce(v.end_timestamp, f.end_timestamp) as due_at,
    own.is_refused
  from estimates f
  left join lateral (
    select v.tx_hash, v.end_timestamp from estimates v
    where v.network = f.network and v.node_id = f.node_id and v.reward_type = 'VALIDATOR'
      and v.start_timestamp <= f.start_timestamp and v.end_timestamp >= f.end_timestamp
    order by v.start_timestamp desc, v.tx_hash limit 1) v on true
  left join lateral (
    select bool_and(not exists (
      select from received r where (r.network, r.reward_tx_hash) = (p.network, p.reward_tx_hash))) as is_refused
    from payouts p where (p.network, p.staking_tx_hash) = (f.network, f.tx_hash)) own on true
  where f.reward_type = 'VALIDATOR_FEE' and not exists (
    select from received r where (r.network, r.staking_tx_hash, r.reward_type) = (f.network, f.tx_hash, 'VALIDATOR_FEE'))
),
accrued as materialized (
  select f.network, f.validation as tx_hash, sum(f.amount) as amount
  from fees f where not coalesce(f.is_refused, false) and f.validation is not null
  group by 1, 2
),
-- The expected and the paid amount of each reward transaction.
settled as (
  select p.network, p.staking_tx_hash, t.reward_type, p.reward_tx_hash, p.received_at, p.node_id, r.amount, r.recipients,
    coalesce(r.denomination, e.denomination) as denomination, coalesce(r.symbol, e.symbol) as symbol, s.end_timestamp, s.node_id as of_node,
    e.recipients as expected_by, coalesce(e.amount, a.amount) as estimate
  from payouts p
  cross join lateral (
    select r.reward_type from received r where (r.network, r.reward_tx_hash) = (p.network, p.reward_tx_hash)
    union
    select e.reward_type from estimates e
    where (e.network, e.tx_hash) = (p.network, p.staking_tx_hash) and e.reward_type <> 'VALIDATOR_FEE'
    union
    select 'VALIDATOR_FEE' from fees f where (f.network, f.tx_hash) = (p.network, p.staking_tx_hash) and f.is_refused
    union
    select 'VALIDATOR_FEE' from accrued a where (a.network, a.tx_hash) = (p.network, p.staking_tx_hash)) t
  left join received r on (r.network, r.reward_tx_hash, r.reward_type) = (p.network, p.reward_tx_hash, t.reward_type)
  left join estimates e on (e.network, e.tx_hash, e.reward_type) = (p.network, p.staking_tx_hash, t.reward_type)
  left join lateral (
    select s.end_timestamp, s.node_id from estimates s where (s.network, s.tx_hash) = (p.network, p.staking_tx_hash)
    order by s.reward_type limit 1) s on true
  left join accrued a on t.reward_type = 'VALIDATOR_FEE' and (a.network, a.tx_hash) = (p.network, p.staking_tx_hash)
),
open as (
  select e.*, coalesce(f.due_at, e.end_timestamp) as due_at
  from estimates e
  left join fees f on e.reward_type = 'VALIDATOR_FEE' and (f.network, f.tx_hash) = (e.network, e.tx_hash)
  where not e.is_dropped
    and case when e.reward_type <> 'VALIDATOR_FEE' then not exists (
        select from payouts p
        where (p.network, p.staking_tx_hash) = (e.network, e.tx_hash) and (not p.is_renewal or p.received_at >= e.end_timestamp))
      else f.tx_hash is not null and not coalesce(f.is_refused, false) and not exists (
        select from payouts p where (p.network, p.staking_tx_hash) = (f.network, f.validation)) end
)
select s.network, s.staking_tx_hash, s.reward_type, coalesce(s.of_node, s.node_id), coalesce(s.end_timestamp, s.received_at),
  case when s.amount is null then 'refused' else 'received' end, s.estimate, coalesce(s.amount, 0), s.received_at, s.reward_tx_hash,
  coalesce(s.recipients, s.expected_by), coalesce(s.amount, 0) - s.estimate, s.denomination, s.symbol
from settled s
union all
select o.network, o.tx_hash, o.reward_type, o.node_id, o.due_at,
  case when exists (
      select from reporting_internal.receipt_coverage(at) c
      where c.network = o.network and o.due_at >= c.range_start and (c.range_end is null or o.due_at < c.range_end)
        and c.address = any (string_to_array(o.recipients, ', ')))
    then 'expected' else 'not recorded' end,
  o.amount, null, null, null, o.recipients, null, o.denomination, o.symbol
from open o
where case
  when at >= now() or exists (
    select from reporting_internal.recorded_since r where r.dataset = 'staking_transactions' and r.recorded_since <= at) then true
  else reporting_internal.has_record('pending_rewards', at) end
$$;

comment on function reporting.rewards_as_of is 'The rewards of each staking transaction as of a past moment: the estimate, the received amount, the time, the reward transaction and the recipients. A moment before the first recording is an error.';
