create or replace function reporting.delegation_movements(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  node_id text default null, -- Returns only delegations to this watched validator.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  at timestamptz, -- Time at which the change was observed.
  change text, -- Kind of the change: joined or left.
  node_id text, -- The validator.
  tx_id text, -- The staking transaction.
  owners text, -- The recipients of the reward.
  start_time timestamptz, -- Start of the delegation.
  end_time timestamptz, -- End of the delegation.
  stake numeric, -- Stake of the delegation in nAVAX.
  stake_avax numeric -- The same amount in AVAX.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validator_delegators', "from") as since
),
viewers as (
  select distinct on (h.node_id) h.node_id, h.node
  from reporting.node_validator_delegators_history h
  where h.valid_from <= as_of and (delegation_movements.node_id is null or h.node_id = delegation_movements.node_id)
  group by h.node_id, h.node
  order by h.node_id, (h.node_id, h.node) in (
      select a.list ->> 'nodeId', a.node from reporting_internal.responding_nodes('validator_delegators', as_of) a) desc,
    bool_or(h.valid_to is null or h.valid_to > as_of) desc, min(h.valid_from), h.node
),
movements as materialized (
  select c.at, c.change, c.node_id, c.tx_id, c.start_time, coalesce(c.after, c.before) as member
  from reporting.node_validator_delegators_changes c join viewers v using (node_id, node) cross join kept k
  where c.change in ('joined', 'left') and not c.is_initial and c.at >= k.since and c.at < "to" and c.at <= as_of
)
select m.at, m.change, m.node_id, m.tx_id,
  (select string_agg(o.address, ', ' order by o.address) from jsonb_array_elements_text(m.member -> 'reward_owner_addresses') as o(address)),
  m.start_time, (m.member ->> 'end_time')::timestamptz, s.stake, s.stake * 0.000000001
from movements m
cross join lateral (select (m.member ->> 'stake_navax')::numeric as stake) s
where reporting_internal.has_record('validator_delegators', as_of)
order by 1, 2, 3, 4
$$;

comment on function reporting.delegation_movements is 'Delegations to watched validators that started or ended between two dates, by the time of the observation.';
