create or replace function reporting.supply_over_time(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz, -- End of the window, exclusive.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC).
  supply numeric, -- Last reading of the day in nAVAX. The reading is an upper bound, because burned fees are not subtracted.
  supply_avax numeric, -- The same amount in AVAX.
  change numeric, -- Difference from the previous day in nAVAX. Null: there is no reading of the previous day.
  change_avax numeric, -- The same amount in AVAX.
  height numeric, -- Height of the P-chain at the reading.
  observed_at timestamptz -- Time of the reading.
)
language sql stable parallel safe as $$
with last_readings as (
  select distinct on ((s.observed_at at time zone 'UTC')::date) (s.observed_at at time zone 'UTC')::date as day, s.supply, s.height,
    s.observed_at
  from reporting_internal.node_current_supply_as_of(as_of) s
  where s.subnet_id = '11111111111111111111111111111111LpoYY' and s.observed_at >= date_trunc('day', "from", 'UTC') - interval '24 hours'
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
