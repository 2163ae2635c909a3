create or replace function reporting.l1_runway(
  subnet_id text default null, -- Returns only this L1, whose validators are recorded if watch.subnets contains it.
  days bigint default 7, -- Number of days before the requested moment over which the rate is measured.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  runs_dry_at timestamptz, -- Time at which the balance is used up at this rate. Null: the balance does not decrease, or lasts more than 300 years.
  subnet_id text, -- The L1.
  validation_id text, -- The validation.
  node_id text, -- The validator.
  seen_at timestamptz, -- Time at which the balance was observed.
  balance numeric, -- Balance in nAVAX.
  balance_avax numeric, -- The same amount in AVAX.
  burned_per_day numeric, -- Rate of the decrease between top-ups in nAVAX per day. Null: no decrease was observed.
  burned_per_day_avax numeric -- The same amount in AVAX.
)
language sql stable parallel safe as $$
with viewers as materialized (
  select s.subnet_id, reporting_internal.validator_viewer(s.subnet_id, as_of) as node
  from (select distinct h.subnet_id from reporting.node_validators_history h
    where h.validation_id is not null and (l1_runway.subnet_id is null or h.subnet_id = l1_runway.subnet_id)) s
),
seen as (
  select h.subnet_id, h.validation_id, h.node_id, h.valid_from, h.valid_to, h.balance,
    lag(h.balance) over validation - h.balance as fell, extract(epoch from h.valid_from - lag(h.valid_from) over validation) as seconds
  from reporting.node_validators_history h join viewers v using (subnet_id, node)
  where h.validation_id is not null and h.valid_from <= as_of
  window validation as (partition by h.subnet_id, h.validation_id order by h.valid_from)
),
rates as (
  select s.subnet_id, s.validation_id, sum(s.fell) / nullif(sum(s.seconds), 0) as per_second
  from seen s
  where s.fell > 0 and s.valid_from > as_of - days * interval '24 hours'
  group by 1, 2
)
select case
    when s.balance = 0 then s.valid_from
    when s.balance / r.per_second < 9460800000 then s.valid_from + round(s.balance / r.per_second) * interval '1 second'
  end as runs_dry_at,
  s.subnet_id, s.validation_id, s.node_id, s.valid_from, s.balance, s.balance * 0.000000001,
  round(r.per_second * 86400), round(r.per_second * 86400) * 0.000000001
from seen s left join rates r using (subnet_id, validation_id)
where (s.valid_to is null or s.valid_to > as_of) and reporting_internal.has_record('validators', as_of)
order by 1, 2, 3
$$;

comment on function reporting.l1_runway is 'The time at which the balance of each validator of watched L1s is used up, at the observed rate.';
