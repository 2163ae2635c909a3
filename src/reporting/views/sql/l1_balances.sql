create or replace function reporting.l1_balances(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  subnet_id text default null, -- Only this L1; its validators are recorded where watch.subnets names it.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC); what follows was the last that was seen by its end.
  subnet_id text, -- The L1.
  validation_id text, -- The validation.
  node_id text, -- The validator.
  weight numeric, -- Its weight, a number of the L1's own choice.
  balance numeric, -- What it has left for the fees of its validation, in nAVAX.
  balance_avax numeric -- The same in AVAX.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
viewers as materialized (
  select s.subnet_id, reporting_internal.validator_viewer(s.subnet_id, as_of) as node
  from (select distinct h.subnet_id from reporting.validators_history h
    where h.validation_id is not null and (l1_balances.subnet_id is null or h.subnet_id = l1_balances.subnet_id)) s
)
select e.day, h.subnet_id, h.validation_id, h.node_id, h.weight, h.balance, h.balance * 0.000000001
from reporting.validators_history h
join viewers v using (subnet_id, node)
cross join kept k
cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.since, least("to", as_of)) e
where h.validation_id is not null and reporting_internal.has_record('validators', as_of)
order by e.day, h.subnet_id, h.validation_id
$$;

comment on function reporting.l1_balances is 'Balances of the validators of watched L1s over time.';
