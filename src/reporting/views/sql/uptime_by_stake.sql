create or replace function reporting.uptime_by_stake(
  "from" timestamptz, -- The first moment.
  "to" timestamptz, -- The end, itself not in it.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  day date, -- The day (UTC).
  node text, -- The configured node.
  readings bigint, -- Readings that day.
  lowest_rewarding_stake numeric, -- The least share of stake that saw it above the requirement, in percent.
  last_rewarding_stake numeric, -- The last share of the day, in percent.
  average_uptime numeric -- The mean of its stake-weighted uptimes, in percent.
)
language sql stable parallel safe as $$
select (u.observed_at at time zone 'UTC')::date, u.node, count(*), min(u.rewarding_stake_percentage),
  (array_agg(u.rewarding_stake_percentage order by u.observed_at desc))[1], round(avg(u.weighted_average_percentage), 4)
from reporting.node_reported_uptime_as_of(as_of) u
where u.subnet_id = '11111111111111111111111111111111LpoYY' and u.observed_at >= "from" and u.observed_at < "to"
group by 1, 2
order by 1, 2
$$;

comment on function reporting.uptime_by_stake is 'How much of the stake would reward each configured node, by day.';
