create or replace function reporting.uptime_by_stake(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz, -- End of the window, exclusive.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC).
  node text, -- The configured node.
  readings bigint, -- Number of readings of this day.
  lowest_rewarding_stake numeric, -- Lowest share of the stake that observed the node above the requirement, in percent.
  last_rewarding_stake numeric, -- Last share of the day in percent.
  average_uptime numeric -- Mean of the stake-weighted uptimes in percent.
)
language sql stable parallel safe as $$
select (u.observed_at at time zone 'UTC')::date, u.node, count(*), min(u.rewarding_stake_percentage),
  (array_agg(u.rewarding_stake_percentage order by u.observed_at desc))[1], round(avg(u.weighted_average_percentage), 4)
from reporting_internal.node_reported_uptime_as_of(as_of) u
where u.subnet_id = '11111111111111111111111111111111LpoYY' and u.observed_at >= "from" and u.observed_at < "to"
group by 1, 2
order by 1, 2
$$;

comment on function reporting.uptime_by_stake is 'Share of the stake that supports the reward of each configured node, by day.';
