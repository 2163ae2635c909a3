create or replace function reporting.stake_flows(
  "from" timestamptz, -- The first moment.
  "to" timestamptz, -- The end, itself not in it.
  seen_by text default null, -- The configured node that saw it; null: the one with the longest record.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC) on which it was seen.
  stake_in numeric, -- Validators' own stake that came, in nAVAX.
  stake_in_avax numeric, -- The same in AVAX.
  stake_out numeric, -- Validators' own stake that went, in nAVAX.
  stake_out_avax numeric, -- The same in AVAX.
  delegated_in numeric, -- Delegated stake that came, net by validator, in nAVAX.
  delegated_in_avax numeric, -- The same in AVAX.
  delegated_out numeric, -- Delegated stake that went, net by validator, in nAVAX.
  delegated_out_avax numeric, -- The same in AVAX.
  net numeric, -- All that came less all that went, in nAVAX.
  net_avax numeric -- The same in AVAX.
)
language sql stable parallel safe as $$
with moves as (
  select c.at, s.own_after - s.own_before as own, s.delegated_after - s.delegated_before as delegated
  from reporting.validators_changes c
  cross join lateral (
    select coalesce((c.after ->> 'weight')::numeric, 0) as own_after, coalesce((c.before ->> 'weight')::numeric, 0) as own_before,
      coalesce((c.after ->> 'delegator_weight')::numeric, 0) as delegated_after,
      coalesce((c.before ->> 'delegator_weight')::numeric, 0) as delegated_before) s
  where c.subnet_id = '11111111111111111111111111111111LpoYY' and not c.first_look
    and c.node = coalesce(seen_by, reporting.validator_viewer('11111111111111111111111111111111LpoYY', as_of))
    and c.at >= "from" and c.at < "to" and c.at <= as_of
),
by_day as (
  select (m.at at time zone 'UTC')::date as day,
    sum(m.own) filter (where m.own > 0) as stake_in, -sum(m.own) filter (where m.own < 0) as stake_out,
    sum(m.delegated) filter (where m.delegated > 0) as delegated_in, -sum(m.delegated) filter (where m.delegated < 0) as delegated_out
  from moves m
  group by 1
),
every_day as (
  select d.day::date as day, coalesce(b.stake_in, 0) as stake_in, coalesce(b.stake_out, 0) as stake_out,
    coalesce(b.delegated_in, 0) as delegated_in, coalesce(b.delegated_out, 0) as delegated_out
  from generate_series(date_trunc('day', "from" at time zone 'UTC'),
    (least("to", as_of) at time zone 'UTC') - interval '1 microsecond', interval '1 day') as d(day)
  left join by_day b on b.day = d.day::date
  where reporting.has_record('validators', as_of)
)
select day, stake_in, stake_in * 0.000000001, stake_out, stake_out * 0.000000001,
  delegated_in, delegated_in * 0.000000001, delegated_out, delegated_out * 0.000000001,
  stake_in + delegated_in - stake_out - delegated_out,
  (stake_in + delegated_in - stake_out - delegated_out) * 0.000000001
from every_day
order by day
$$;

comment on function reporting.stake_flows is 'Stake that came to the primary network and left it, by day.';
