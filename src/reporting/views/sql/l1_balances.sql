create or replace function reporting.l1_balances(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  subnet_id text default null, -- Returns only this L1, whose validators are recorded if watch.subnets contains it.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC). The other columns contain the last values observed before the end of the day.
  subnet_id text, -- The L1.
  validation_id text, -- The validation.
  node_id text, -- The validator.
  weight numeric, -- Weight of the validator, in the unit of the L1.
  balance numeric, -- Remaining balance for the fees of the validation in nAVAX.
  balance_avax numeric -- The same amount in AVAX.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
viewers as materialized (
  select s.subnet_id, reporting_internal.validator_viewer(s.subnet_id, as_of) as node
  from (select distinct h.subnet_id from reporting.node_validators_history h
    where h.validation_id is not null and (l1_balances.subnet_id is null or h.subnet_id = l1_balances.subnet_id)) s
)
select e.day, h.subnet_id, h.validation_id, h.node_id, h.weight, h.balance, h.balance * 0.000000001
from reporting.node_validators_history h
join viewers v using (subnet_id, node)
cross join kept k
cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.since, least("to", as_of)) e
where h.validation_id is not null and reporting_internal.has_record('validators', as_of)
order by e.day, h.subnet_id, h.validation_id
$$;

comment on function reporting.l1_balances is 'Balances of the validators of watched L1s over time.';
