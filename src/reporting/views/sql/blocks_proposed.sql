create or replace function reporting.blocks_proposed(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  node_id text default null, -- Returns only this watched validator.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC).
  blockchain_id text, -- The chain: p-chain, x-chain or c-chain.
  node_id text, -- The validator.
  blocks bigint, -- Blocks that the validator proposed on this day.
  transactions numeric, -- Transactions in these blocks.
  chain_blocks numeric, -- Number of blocks by which the chain grew on this day, as far as heights are recorded. Null: no height of the previous day is recorded.
  share_of_blocks numeric, -- Share of these blocks that the validator proposed. Null: chain_blocks is unknown or zero.
  share_of_stake numeric, -- Share of the total stake, own and delegated, at the end of the day. Null: the validator did not validate, or no validators are known for this day.
  expected_blocks numeric -- Number of blocks that is expected from the share of the stake. Null: the validator did not validate, or the numbers are unknown.
)
language sql stable parallel safe as $$
with kept as materialized (
  select k.since, (k.since at time zone 'UTC')::date as first_day, reporting_internal.kept_from('validators', k.since) as validators_since
  from reporting_internal.kept_from('proposed_blocks', "from") as k(since)
),
-- Heights before the window belong to the previous day, from which the growth is computed.
recorded as (
  select case when b.block_timestamp < k.since then k.first_day - 1 else (b.block_timestamp at time zone 'UTC')::date end as day,
    b.blockchain_id, b.proposer_node_id, b.block_number, b.tx_count
  from reporting.proposed_blocks_as_of(as_of) b cross join kept k
  where b.block_timestamp >= k.since - interval '24 hours' and b.block_timestamp < "to"
),
-- Equal to the rows of node_p_blocks_as_of and node_x_blocks_as_of, without the error if no node records blocks.
node_blocks(blockchain_id, time, height) as (
  select 'p-chain', b.time, b.height from reporting.node_p_blocks b where b.valid_from <= as_of
  union all
  select 'p-chain', b.time, b.height from reporting_internal.node_p_blocks_replaced b
  where b.valid_from <= as_of and b.valid_to > as_of
  union all
  select 'x-chain', b.time, b.height from reporting.node_x_blocks b where b.valid_from <= as_of
  union all
  select 'x-chain', b.time, b.height from reporting_internal.node_x_blocks_replaced b
  where b.valid_from <= as_of and b.valid_to > as_of
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
stakes as (
  select e.day, h.node_id, h.stake_navax + coalesce(h.delegator_weight, 0) as stake,
    sum(h.stake_navax + coalesce(h.delegator_weight, 0)) over (partition by e.day) as total
  from reporting.node_validators_history h
  cross join kept k
  cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.validators_since, least("to", as_of)) e
  where h.subnet_id = '11111111111111111111111111111111LpoYY'
    and h.node = (select reporting_internal.validator_viewer('11111111111111111111111111111111LpoYY', as_of))
),
proposed as (
  select r.day, r.blockchain_id, r.proposer_node_id as node_id, count(*) as blocks, sum(r.tx_count) as transactions
  from recorded r group by 1, 2, 3
),
-- A validator has a row for each day whose blocks are recorded without a gap, also if it proposed none. The day of as_of
-- ends with its last recorded moment.
watched as materialized (
  select t.target ->> 'blockchainId' as blockchain_id, t.target ->> 'nodeId' as node_id,
    range_agg(tstzrange(c.range_start, c.range_end)) as covered, max(c.range_end) as until
  from reporting_internal.node_targets t
  join reporting_internal.recorded_since s on (s.dataset, s.target) = (t.dataset, t.target_key)
  join reporting.coverage c on (c.dataset, c.target) = (t.dataset, t.target_key)
  where t.dataset = 'proposed_blocks' and s.recorded_since <= as_of
  group by 1, 2
),
counted as (
  select p.day, p.blockchain_id, p.node_id from proposed p
  union
  select g.day, g.blockchain_id, w.node_id
  from grown g
  join watched w using (blockchain_id)
  cross join kept k
  cross join lateral (
    select (g.day + 1)::timestamp at time zone 'UTC' as midnight) m
  cross join lateral (
    select greatest(g.day::timestamp at time zone 'UTC', k.since) as begins,
      least(m.midnight, "to", case when as_of < m.midnight then least(as_of, w.until) end) as ends) d
  where case when d.begins < d.ends then w.covered @> tstzrange(d.begins, d.ends) end
)
select g.day, g.blockchain_id, n.node_id, coalesce(p.blocks, 0), coalesce(p.transactions, 0), g.chain_blocks,
  round(coalesce(p.blocks, 0) / nullif(g.chain_blocks, 0), 9), round(s.stake / s.total, 9),
  round(s.stake / s.total * g.chain_blocks, 4)
from grown g
cross join kept k
join counted n using (day, blockchain_id)
left join proposed p using (day, blockchain_id, node_id)
left join stakes s using (day, node_id)
where g.day >= k.first_day and (blocks_proposed.node_id is null or n.node_id = blocks_proposed.node_id)
order by 1, 2, 3
$$;

comment on function reporting.blocks_proposed is 'Blocks that watched validators proposed by day, compared with their share of the stake. If a window starts or ends within a day, only that part of the day counts.';
