create or replace function reporting.largest_delegations(
  most bigint default 20, -- Maximum number of delegations.
  node_id text default null, -- Returns only delegations to this watched validator.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  rank bigint, -- From 1. Equal stakes have the same rank.
  node_id text, -- The validator.
  tx_id text, -- The staking transaction.
  owners text, -- The recipients of the reward.
  start_time timestamptz, -- Start of the delegation.
  end_time timestamptz, -- End of the delegation.
  stake numeric, -- Stake of the delegation in nAVAX.
  stake_avax numeric, -- The same amount in AVAX.
  share numeric -- Share of all delegations to this validator.
)
language sql stable parallel safe as $$
with delegations as (
  select distinct on (d.tx_id) d.node_id, d.tx_id, d.start_time, d.end_time, d.stake_navax as stake,
    (select string_agg(o.address, ', ' order by o.address) from jsonb_array_elements_text(d.reward_owner_addresses) as o(address)) as owners
  from reporting.node_validator_delegators_as_of(as_of) d
  where (largest_delegations.node_id is null or d.node_id = largest_delegations.node_id)
    -- A node that no longer answers keeps its last list.
    and coalesce(d.end_time > as_of, true)
  order by d.tx_id, d.node
)
select rank() over (order by d.stake desc) as rank, d.node_id, d.tx_id, d.owners, d.start_time, d.end_time, d.stake,
  d.stake * 0.000000001, round(d.stake / sum(d.stake) over (partition by d.node_id), 9)
from delegations d
order by 1, d.tx_id
limit most
$$;

comment on function reporting.largest_delegations is 'The largest delegations to watched validators.';
