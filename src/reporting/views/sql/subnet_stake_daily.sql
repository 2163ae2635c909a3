create or replace function reporting.subnet_stake_daily(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  subnet_id text default null, -- Only this subnet; null: all whose validators are recorded.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC); what follows was so at its end.
  subnet_id text, -- The subnet.
  validators bigint, -- How many validated it.
  stake_navax numeric, -- Their own stake in nAVAX; null outside the primary network.
  weight numeric, -- Their weight in the unit of the subnet.
  delegated numeric -- Stake delegated to them, in nAVAX.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
viewers as materialized (
  select s.subnet_id, reporting_internal.validator_viewer(s.subnet_id, as_of) as node
  from (select distinct h.subnet_id from reporting.validators_history h
    where subnet_stake_daily.subnet_id is null or h.subnet_id = subnet_stake_daily.subnet_id) s
)
select e.day, h.subnet_id, count(*), sum(h.stake_navax), sum(h.weight), coalesce(sum(h.delegator_weight), 0)
from reporting.validators_history h
join viewers v using (subnet_id, node)
cross join kept k
cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.since, least("to", as_of)) e
where reporting_internal.has_record('validators', as_of)
group by e.day, h.subnet_id
order by e.day, h.subnet_id
$$;

comment on function reporting.subnet_stake_daily is 'How many validators and how much weight each recorded subnet had at the end of each day.';
