create or replace function reporting.supply_over_time(
  "from" timestamptz, -- The first moment.
  "to" timestamptz, -- The end, itself not in it.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC).
  supply numeric, -- The last reading of the day in nAVAX: an upper bound, burned fees are not subtracted.
  supply_avax numeric, -- The same in AVAX.
  change numeric, -- The difference to the day before, in nAVAX; null: there is none.
  change_avax numeric, -- The same in AVAX.
  height numeric, -- The height of the P-chain that it is about.
  observed_at timestamptz -- When it was read.
)
language sql stable parallel safe as $$
with last_readings as (
  select distinct on ((s.observed_at at time zone 'UTC')::date) (s.observed_at at time zone 'UTC')::date as day, s.supply, s.height,
    s.observed_at
  from reporting.current_supply_as_of(as_of) s
  where s.subnet_id = '11111111111111111111111111111111LpoYY' and s.observed_at >= "from" - interval '24 hours'
    and s.observed_at < "to"
  order by 1, s.observed_at desc, s.height desc nulls last, s.node
),
compared as (
  select l.*, case when lag(l.day) over (order by l.day) = l.day - 1 then l.supply - lag(l.supply) over (order by l.day) end as change
  from last_readings l
)
select c.day, c.supply, c.supply * 0.000000001, c.change, c.change * 0.000000001, c.height, c.observed_at
from compared c
where c.observed_at >= "from"
order by 1
$$;

comment on function reporting.supply_over_time is 'The supply of AVAX by day.';
