create or replace function reporting.validator_uptime_seen(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz, -- End of the window, exclusive.
  node_id text default null, -- Returns only this validator. Null: the configured nodes that validate.
  threshold numeric default 80, -- The uptime that a reward requires, in percent.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  node_id text, -- The validator.
  seen_by text, -- The configured node that observed the validator.
  is_own_view boolean, -- True if the node observed itself.
  readings bigint, -- Number of readings in the window.
  lowest numeric, -- Lowest observed uptime in percent.
  uptime numeric, -- Last observed uptime of the whole validation in percent.
  observed_at timestamptz, -- Time of the last observation.
  connected_share numeric, -- Share of the readings with a connection.
  threshold numeric, -- The uptime that a reward requires, in percent.
  is_enough boolean, -- True if the last uptime reaches the threshold.
  end_time timestamptz, -- End of the validation.
  downtime_left_minutes numeric -- Minutes that the validator may be down until its end without missing the threshold; negative: the threshold is missed.
)
language sql stable parallel safe as $$
with mine as (
  select distinct i.node_id from reporting.node_identity_as_of(as_of) i where validator_uptime_seen.node_id is null
  union select validator_uptime_seen.node_id where validator_uptime_seen.node_id is not null
),
seen as (
  select u.node_id, u.node, count(*) as readings, min(u.uptime) as lowest,
    (array_agg(u.uptime order by u.observed_at desc))[1] as uptime, max(u.observed_at) as observed_at,
    round(avg(u.connected::int), 9) as connected_share
  from reporting_internal.validator_uptime_as_of(as_of) u
  -- As an array, so that only these validators' readings are unpacked.
  where u.node_id = any (array(select m.node_id from mine m)) and u.subnet_id = '11111111111111111111111111111111LpoYY' and u.observed_at >= "from" and u.observed_at < "to"
  group by 1, 2
)
select s.node_id, s.node, coalesce(i.node_id = s.node_id, false), s.readings, s.lowest, s.uptime, s.observed_at, s.connected_share,
  threshold, s.uptime >= threshold, v.end_time,
  floor((extract(epoch from v.end_time - v.start_time) * (100 - threshold)
    - extract(epoch from s.observed_at - v.start_time) * (100 - s.uptime)) / 6000)
from seen s
-- The last identity, also of a node that the configuration no longer contains.
left join lateral (
  select h.node_id from reporting.node_identity_history h
  where h.node = s.node and h.valid_from <= as_of order by h.valid_from desc limit 1) i on true
left join lateral (
  select h.start_time, h.end_time from reporting.node_validators_history h
  where h.node = s.node and h.subnet_id = '11111111111111111111111111111111LpoYY' and h.node_id = s.node_id
    and h.valid_from <= s.observed_at and (h.valid_to is null or h.valid_to > s.observed_at)
  order by h.start_time desc limit 1
) v on true
order by 1, 2
$$;

comment on function reporting.validator_uptime_seen is 'The uptime of validators as observed by other nodes, compared with the requirement of the reward. Each row is the view of one node; all validators vote about the reward.';
