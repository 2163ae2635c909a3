create or replace function reporting.largest_delegations(
  most bigint default 20, -- Number of delegations.
  node_id text default null, -- Only delegations to this watched validator.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  place bigint, -- From 1; equal stakes share it.
  node_id text, -- The validator.
  tx_id text, -- The staking transaction.
  owners text, -- Who gets the reward.
  start_time timestamptz, -- When the delegation started.
  end_time timestamptz, -- When it ends.
  stake numeric, -- In nAVAX.
  stake_avax numeric, -- The same in AVAX.
  share numeric -- Of all delegations to that validator.
)
language sql stable parallel safe as $$
with delegations as (
  select distinct on (d.tx_id) d.node_id, d.tx_id, d.start_time, d.end_time, d.stake_navax as stake,
    (select string_agg(o.address, ', ' order by o.address) from jsonb_array_elements_text(d.reward_owner_addresses) as o(address)) as owners
  from reporting.validator_delegators_as_of(as_of) d
  where largest_delegations.node_id is null or d.node_id = largest_delegations.node_id
  order by d.tx_id, d.node
)
select rank() over (order by d.stake desc) as place, d.node_id, d.tx_id, d.owners, d.start_time, d.end_time, d.stake,
  d.stake * 0.000000001, round(d.stake / sum(d.stake) over (partition by d.node_id), 9)
from delegations d
order by 1, d.tx_id
limit most
$$;

comment on function reporting.largest_delegations is 'The largest delegations to watched validators.';
