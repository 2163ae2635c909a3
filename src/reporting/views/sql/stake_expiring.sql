create or replace function reporting.stake_expiring(
  days bigint default 30, -- Number of days after the requested moment.
  node_id text default null, -- Returns only stakes with this validator.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  end_time timestamptz, -- End of the stake.
  days_left numeric, -- Number of days until the end.
  kind text, -- validator, or delegation (to a watched validator).
  node_id text, -- The validator.
  tx_id text, -- The staking transaction.
  stake numeric, -- Amount of the stake in nAVAX.
  stake_avax numeric, -- The same amount in AVAX.
  potential_reward numeric, -- Potential reward in nAVAX, paid if the uptime is sufficient.
  potential_reward_avax numeric -- The same amount in AVAX.
)
language sql stable parallel safe as $$
with stakes as (
  select distinct on (v.node_id, v.start_time, v.tx_id) v.end_time, 'validator' as kind, v.node_id, v.tx_id, v.stake_navax as stake, v.potential_reward
  from reporting.node_validators_as_of(as_of) v
  where v.subnet_id = '11111111111111111111111111111111LpoYY'
  order by v.node_id, v.start_time, v.tx_id, v.valid_from desc, v.node
),
delegations as (
  select distinct on (d.tx_id) d.end_time, 'delegation' as kind, d.node_id, d.tx_id, d.stake_navax as stake, d.potential_reward
  from reporting.node_validator_delegators_history d
  where d.valid_from <= as_of and (d.valid_to is null or d.valid_to > as_of)
  order by d.tx_id, d.valid_from desc, d.node
)
select e.end_time, round(extract(epoch from e.end_time - as_of) / 86400, 4), e.kind, e.node_id, e.tx_id, e.stake,
  e.stake * 0.000000001, e.potential_reward, e.potential_reward * 0.000000001
from (table stakes union all table delegations) e
where e.end_time > as_of and e.end_time <= as_of + days * interval '24 hours'
  and (stake_expiring.node_id is null or e.node_id = stake_expiring.node_id)
  -- Without watched validators, delegations are never recorded, so no record is missing.
  and case when exists (select from reporting_internal.recorded_since r where r.dataset = 'validator_delegators')
    then reporting_internal.has_record('validator_delegators', as_of) else true end
order by e.end_time, e.kind, e.tx_id
$$;

comment on function reporting.stake_expiring is 'Stakes of validators, and delegations to watched validators, that end soon.';
