create or replace function reporting.delegation_movements(
  "from" timestamptz, -- The first moment.
  "to" timestamptz, -- The end, itself not in it.
  node_id text default null, -- Only delegations to this watched validator.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  at timestamptz, -- When it was seen.
  change text, -- joined or left.
  node_id text, -- The validator.
  tx_id text, -- The staking transaction.
  owners text, -- Who gets the reward.
  start_time timestamptz, -- When the delegation began.
  end_time timestamptz, -- When it ends.
  stake numeric, -- In nAVAX.
  stake_avax numeric -- The same in AVAX.
)
language sql stable parallel safe as $$
with viewers as (
  select distinct on (h.node_id) h.node_id, h.node
  from reporting.validator_delegators_history h
  where h.valid_from <= as_of and (delegation_movements.node_id is null or h.node_id = delegation_movements.node_id)
  group by h.node_id, h.node
  order by h.node_id, bool_or(h.valid_to is null or h.valid_to > as_of) desc, min(h.valid_from), h.node
),
looks as (
  select h.node, min(h.valid_from) as first_look from reporting.validator_delegators_history h group by h.node
),
versions as (
  select h.*, lag(h.valid_to) over member as before_until, lag(h.ended_by) over member as before_ended_by,
    h.valid_from > min(h.valid_from) over (partition by h.node_id) or h.start_time > l.first_look as is_new,
    (select string_agg(o.address, ', ' order by o.address) from jsonb_array_elements_text(h.reward_owner_addresses) as o(address)) as owners
  from reporting.validator_delegators_history h join viewers w using (node_id, node) join looks l using (node)
  where h.valid_from <= as_of
  window member as (partition by h.node_id, h.start_time, h.tx_id order by h.valid_from)
)
select v.valid_from as at, 'joined' as change, v.node_id, v.tx_id, v.owners, v.start_time, v.end_time, v.weight,
  v.weight * 0.000000001
from versions v
where v.is_new and v.valid_from >= "from" and v.valid_from < "to"
  and (v.before_until is null or v.before_until < v.valid_from and v.before_ended_by = 'gone')
union all
select v.valid_to, 'left', v.node_id, v.tx_id, v.owners, v.start_time, v.end_time, v.weight, v.weight * 0.000000001
from versions v
where v.ended_by = 'gone' and v.valid_to <= as_of and v.valid_to >= "from" and v.valid_to < "to"
order by 1, 2, 3, 4
$$;

comment on function reporting.delegation_movements is 'Delegations to watched validators that began and ended between two dates, when it was seen.';
