create or replace function reporting.fees_over_time(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  node text, -- The configured node that reported the fee.
  fee text, -- Name of the fee.
  amount numeric, -- Amount of the fee in nAVAX.
  amount_avax numeric, -- The same amount in AVAX.
  since timestamptz, -- Time from which the fee applied, as far as observed; not before the retained data.
  until timestamptz -- End of the fee. Null: the fee still applies.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('fees', "from") as since
),
fee_values as (
  select h.node, f.fee, f.amount, h.valid_from, case when h.valid_to <= as_of then h.valid_to end as valid_to
  from reporting.node_fees_history h
  cross join lateral (values
    ('tx_fee', h.tx_fee), ('create_asset_tx_fee', h.create_asset_tx_fee), ('create_subnet_tx_fee', h.create_subnet_tx_fee),
    ('transform_subnet_tx_fee', h.transform_subnet_tx_fee), ('create_blockchain_tx_fee', h.create_blockchain_tx_fee),
    ('add_primary_network_validator_fee', h.add_primary_network_validator_fee),
    ('add_primary_network_delegator_fee', h.add_primary_network_delegator_fee),
    ('add_subnet_validator_fee', h.add_subnet_validator_fee), ('add_subnet_delegator_fee', h.add_subnet_delegator_fee),
    ('x_tx_fee', h.x_tx_fee), ('x_create_asset_tx_fee', h.x_create_asset_tx_fee)) as f(fee, amount)
  where h.valid_from <= as_of and f.amount is not null and reporting_internal.has_record('fees', as_of)
),
marked as (
  select s.*, s.amount is distinct from lag(s.amount) over fee or s.valid_from is distinct from lag(s.valid_to) over fee as begins
  from fee_values s window fee as (partition by s.node, s.fee order by s.valid_from)
),
counted as (
  select m.*, count(*) filter (where m.begins) over (partition by m.node, m.fee order by m.valid_from) as period from marked m
)
select c.node, c.fee, c.amount, c.amount * 0.000000001,
  reporting_internal.kept_from('fees', min(c.valid_from)), (array_agg(c.valid_to order by c.valid_from desc))[1]
from counted c
group by c.node, c.fee, c.period, c.amount
having min(c.valid_from) < "to" and coalesce((array_agg(c.valid_to order by c.valid_from desc))[1] > (select k.since from kept k), true)
order by 1, 2, 5
$$;

comment on function reporting.fees_over_time is 'Transaction fees of the P- and X-chain over time, as reported by nodes.';
