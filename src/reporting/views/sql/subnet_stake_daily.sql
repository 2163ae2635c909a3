create or replace function reporting.subnet_stake_daily(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  subnet_id text default null, -- Returns only this subnet. Null: all subnets whose validators are recorded.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC). The other columns contain the last values observed before the end of the day.
  subnet_id text, -- The subnet.
  validators bigint, -- Number of validators.
  stake_navax numeric, -- Own stake of the validators in nAVAX. Null outside the primary network.
  weight numeric, -- Weight of the validators in the unit of the subnet.
  delegated numeric -- Weight of the delegations to the validators in the unit of the subnet.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
viewers as materialized (
  select s.subnet_id, reporting_internal.validator_viewer(s.subnet_id, as_of) as node
  from (select distinct h.subnet_id from reporting.node_validators_history h
    where subnet_stake_daily.subnet_id is null or h.subnet_id = subnet_stake_daily.subnet_id) s
)
select e.day, h.subnet_id, count(*), sum(h.stake_navax), sum(h.weight), coalesce(sum(h.delegator_weight), 0)
from reporting.node_validators_history h
join viewers v using (subnet_id, node)
cross join kept k
cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.since, least("to", as_of)) e
where reporting_internal.has_record('validators', as_of)
group by e.day, h.subnet_id
order by e.day, h.subnet_id
$$;

comment on function reporting.subnet_stake_daily is 'The number of validators and the weight of each recorded subnet at the end of each day.';
