create or replace function reporting.blocks_proposed(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  node_id text default null, -- Only this watched validator.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC).
  blockchain_id text, -- The chain: p-chain, x-chain or c-chain.
  node_id text, -- The validator.
  blocks bigint, -- Blocks it proposed that day.
  transactions numeric, -- Transactions in them.
  chain_blocks numeric, -- By how many blocks the chain grew that day, as far as heights are recorded; null: none is recorded of the day before.
  share_of_blocks numeric, -- Its blocks of those; null: they are not known, or none.
  share_of_stake numeric, -- Its stake of all, own and delegated, at the end of the day; null: it did not validate, or no validators are known of that day.
  expected_blocks numeric -- The blocks that its share of the stake makes likely; null: it did not validate, or they are not known.
)
language sql stable parallel safe as $$
with kept as materialized (
  select k.since, (k.since at time zone 'UTC')::date as first_day, reporting_internal.kept_from('validators', k.since) as validators_since
  from reporting_internal.kept_from('proposed_blocks', "from") as k(since)
),
-- What came before the window is of the day before: from there the chain grew.
recorded as (
  select case when b.block_timestamp < k.since then k.first_day - 1 else (b.block_timestamp at time zone 'UTC')::date end as day,
    b.blockchain_id, b.proposer_node_id, b.block_number, b.tx_count
  from reporting.proposed_blocks_as_of(as_of) b cross join kept k
  where b.block_timestamp >= k.since - interval '24 hours' and b.block_timestamp < "to"
),
-- As p_blocks_as_of and x_blocks_as_of have them, which raise an error where no node records blocks.
node_blocks(blockchain_id, time, height) as (
  select 'p-chain', b.time, b.height from reporting.p_blocks b where b.recorded_at <= as_of
  union all
  select 'p-chain', b.time, b.height from reporting.p_blocks_conflicts b
  where b.recorded_at <= as_of and b.superseded_at > as_of and b.differs is not null
  union all
  select 'x-chain', b.time, b.height from reporting.x_blocks b where b.recorded_at <= as_of
  union all
  select 'x-chain', b.time, b.height from reporting.x_blocks_conflicts b
  where b.recorded_at <= as_of and b.superseded_at > as_of and b.differs is not null
),
heights as (
  select r.blockchain_id, r.day, r.block_number from recorded r
  union all
  select b.blockchain_id, case when b.time < k.since then k.first_day - 1 else (b.time at time zone 'UTC')::date end, b.height
  from node_blocks b cross join kept k
  where b.time >= k.since - interval '24 hours' and b.time < "to"
),
days as (
  select h.blockchain_id, h.day, max(h.block_number) as highest from heights h group by 1, 2
),
grown as (
  select d.blockchain_id, d.day,
    case when lag(d.day) over chain = d.day - 1 then d.highest - lag(d.highest) over chain end as chain_blocks
  from days d
  window chain as (partition by d.blockchain_id order by d.day)
),
proposers as (
  select distinct r.proposer_node_id as node_id from recorded r
  where blocks_proposed.node_id is null or r.proposer_node_id = blocks_proposed.node_id
),
stakes as (
  select e.day, h.node_id, h.stake_navax + coalesce(h.delegator_weight, 0) as stake,
    sum(h.stake_navax + coalesce(h.delegator_weight, 0)) over (partition by e.day) as total
  from reporting.validators_history h
  cross join kept k
  cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.validators_since, least("to", as_of)) e
  where h.subnet_id = '11111111111111111111111111111111LpoYY'
    and h.node = (select reporting_internal.validator_viewer('11111111111111111111111111111111LpoYY', as_of))
),
proposed as (
  select r.day, r.blockchain_id, r.proposer_node_id as node_id, count(*) as blocks, sum(r.tx_count) as transactions
  from recorded r group by 1, 2, 3
)
select g.day, g.blockchain_id, n.node_id, coalesce(p.blocks, 0), coalesce(p.transactions, 0), g.chain_blocks,
  round(coalesce(p.blocks, 0) / nullif(g.chain_blocks, 0), 9), round(s.stake / s.total, 9),
  round(s.stake / s.total * g.chain_blocks, 4)
from grown g
cross join kept k
cross join proposers n
left join proposed p using (day, blockchain_id, node_id)
left join stakes s using (day, node_id)
where g.day >= k.first_day
order by 1, 2, 3
$$;

comment on function reporting.blocks_proposed is 'Blocks that watched validators proposed by day, against their share of the stake. Where a window starts or ends within a day, only that part of the day counts.';
