create or replace function reporting.validator_uptime_seen(
  "from" timestamptz, -- The first moment.
  "to" timestamptz, -- The end, itself not in it.
  node_id text default null, -- Only this validator; null: the configured nodes that validate.
  threshold numeric default 80, -- The uptime that a reward needs, in percent.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  node_id text, -- The validator.
  seen_by text, -- The configured node that saw it.
  is_own_view boolean, -- It saw itself.
  readings bigint, -- Readings in the window.
  lowest numeric, -- The lowest uptime in them, in percent.
  uptime numeric, -- The last one, in percent: of the whole validation, as that node saw it.
  observed_at timestamptz, -- When.
  connected_share numeric, -- The share of the readings with a connection.
  threshold numeric, -- The uptime that a reward needs, in percent.
  is_enough boolean, -- The last uptime reaches it.
  end_time timestamptz, -- When the validation ends.
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
  from reporting.validator_uptime_as_of(as_of) u
  -- As an array, so that only these validators' readings are unpacked.
  where u.node_id = any (array(select m.node_id from mine m)) and u.subnet_id = '11111111111111111111111111111111LpoYY' and u.observed_at >= "from" and u.observed_at < "to"
  group by 1, 2
)
select s.node_id, s.node, coalesce(i.node_id = s.node_id, false), s.readings, s.lowest, s.uptime, s.observed_at, s.connected_share,
  threshold, s.uptime >= threshold, v.end_time,
  floor((extract(epoch from v.end_time - v.start_time) * (100 - threshold)
    - extract(epoch from s.observed_at - v.start_time) * (100 - s.uptime)) / 6000)
from seen s
left join reporting.node_identity_as_of(as_of) i on i.node = s.node
left join lateral (
  select h.start_time, h.end_time from reporting.validators_history h
  where h.node = s.node and h.subnet_id = '11111111111111111111111111111111LpoYY' and h.node_id = s.node_id
    and h.valid_from <= s.observed_at and (h.valid_to is null or h.valid_to > s.observed_at)
  order by h.start_time desc limit 1
) v on true
order by 1, 2
$$;

comment on function reporting.validator_uptime_seen is 'The uptime of validators as other nodes see it, against what a reward needs. Each is one node''s view: whether a reward is paid is voted by all of them.';
