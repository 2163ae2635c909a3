create or replace function reporting.stake_daily(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  seen_by text default null, -- The configured node that saw it; null: the one with the longest record.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC); what follows was so at its end.
  validators bigint, -- Validators of the primary network.
  delegations numeric, -- Delegations to them.
  stake numeric, -- Their own stake, in nAVAX.
  stake_avax numeric, -- The same in AVAX.
  delegated numeric, -- Stake delegated to them, in nAVAX.
  delegated_avax numeric, -- The same in AVAX.
  total numeric, -- Both together, in nAVAX.
  total_avax numeric -- The same in AVAX.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
by_day as (
  select e.day, count(*) as validators, coalesce(sum(h.delegator_count), 0) as delegations, sum(h.stake_navax) as stake,
    coalesce(sum(h.delegator_weight), 0) as delegated
  from reporting.validators_history h
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

comment on function reporting.stake_daily is 'How many validators and how much stake the primary network had at the end of each day.';
