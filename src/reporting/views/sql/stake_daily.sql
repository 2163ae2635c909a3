create or replace function reporting.stake_daily(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  seen_by text default null, -- The configured node whose observations are used. Null: of the nodes that still answer, the node with the longest record.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC). The other columns contain the last values observed before the end of the day.
  validators bigint, -- Number of validators of the primary network.
  delegations numeric, -- Number of delegations to the validators.
  stake numeric, -- Own stake of the validators in nAVAX.
  stake_avax numeric, -- The same amount in AVAX.
  delegated numeric, -- Stake delegated to the validators in nAVAX.
  delegated_avax numeric, -- The same amount in AVAX.
  total numeric, -- Own and delegated stake in nAVAX.
  total_avax numeric -- The same amount in AVAX.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
by_day as (
  select e.day, count(*) as validators, coalesce(sum(h.delegator_count), 0) as delegations, sum(h.stake_navax) as stake,
    coalesce(sum(h.delegator_weight), 0) as delegated
  from reporting.node_validators_history h
  cross join kept k
  cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.since, least("to", as_of)) e
  where h.subnet_id = '11111111111111111111111111111111LpoYY'
    and reporting_internal.has_record('validators', as_of)
    and h.node = (select coalesce(seen_by, reporting_internal.validator_viewer('11111111111111111111111111111111LpoYY', as_of)))
  group by e.day
)
select day, validators, delegations, stake, stake * 0.000000001, delegated, delegated * 0.000000001,
  stake + delegated, (stake + delegated) * 0.000000001
from by_day
order by day
$$;

comment on function reporting.stake_daily is 'The number of validators and the stake of the primary network at the end of each day.';
