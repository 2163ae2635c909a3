create or replace function reporting.stake_flows(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  seen_by text default null, -- The configured node whose observations are used. Null: of the nodes that still answer, the node with the longest record.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC) of the observation.
  stake_in numeric, -- Added own stake of validators in nAVAX.
  stake_in_avax numeric, -- The same amount in AVAX.
  stake_out numeric, -- Removed own stake of validators in nAVAX.
  stake_out_avax numeric, -- The same amount in AVAX.
  delegated_in numeric, -- Added delegated stake, net by validator, in nAVAX.
  delegated_in_avax numeric, -- The same amount in AVAX.
  delegated_out numeric, -- Removed delegated stake, net by validator, in nAVAX.
  delegated_out_avax numeric, -- The same amount in AVAX.
  net numeric, -- Added minus removed stake in nAVAX.
  net_avax numeric -- The same amount in AVAX.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
viewer as materialized (
  select coalesce(seen_by, reporting_internal.validator_viewer('11111111111111111111111111111111LpoYY', as_of)) as node
),
versions as (
  select h.valid_from, h.valid_to, h.ended_by, h.stake_navax as stake, coalesce(h.delegator_weight, 0) as delegated,
    lag(h.valid_to) over member as before_until, lag(h.ended_by) over member as before_ended_by,
    lag(h.stake_navax) over member as stake_before, lag(coalesce(h.delegator_weight, 0)) over member as delegated_before
  from reporting.node_validators_history h join viewer using (node)
  where h.subnet_id = '11111111111111111111111111111111LpoYY' and h.valid_from <= as_of
  window member as (partition by h.node_id, h.start_time, h.tx_id order by h.valid_from)
),
-- The first observation of the record, and after each time in which no list was watched.
first_observations as materialized (
  select distinct (select min(v.valid_from) from versions v where v.valid_from >= b.at) as at
  from (select '-infinity'::timestamptz union select distinct u.valid_to from versions u where u.ended_by = 'unwatched') b(at)
),
moves(at, own, delegated) as (
  select v.valid_from, v.stake - v.stake_before, v.delegated - v.delegated_before
  from versions v where v.before_until = v.valid_from
  union all
  select v.valid_from, v.stake, v.delegated
  from versions v
  where not exists (select from first_observations o where o.at = v.valid_from)
    and (v.before_until is null or v.before_until < v.valid_from and v.before_ended_by = 'gone')
  union all
  select v.valid_to, -v.stake, -v.delegated from versions v where v.ended_by = 'gone' and v.valid_to <= as_of
),
by_day as (
  select (m.at at time zone 'UTC')::date as day,
    sum(m.own) filter (where m.own > 0) as stake_in, -sum(m.own) filter (where m.own < 0) as stake_out,
    sum(m.delegated) filter (where m.delegated > 0) as delegated_in, -sum(m.delegated) filter (where m.delegated < 0) as delegated_out
  from moves m cross join kept k
  where m.at >= k.since and m.at < "to"
  group by 1
),
observed as materialized (
  select range_agg(tstzrange(c.range_start, c.range_end)) as during
  from reporting_internal.node_targets t
  join viewer using (node)
  join reporting.coverage c on (c.dataset, c.target) = (t.dataset, t.target_key)
  where t.dataset = 'validators' and t.target ->> 'subnetId' = '11111111111111111111111111111111LpoYY'
),
-- A day without observations is omitted, because its flows are unknown.
every_day as materialized (
  select d.day::date as day, coalesce(b.stake_in, 0) as stake_in, coalesce(b.stake_out, 0) as stake_out,
    coalesce(b.delegated_in, 0) as delegated_in, coalesce(b.delegated_out, 0) as delegated_out
  from kept k
  cross join observed o
  cross join (select min(v.valid_from) as at from versions v) first_version
  cross join lateral generate_series(date_trunc('day', greatest(k.since, first_version.at) at time zone 'UTC'),
    (least("to", as_of) at time zone 'UTC') - interval '1 microsecond', interval '1 day') as d(day)
  cross join lateral (
    select greatest(d.day at time zone 'UTC', k.since) as begins, least((d.day + interval '1 day') at time zone 'UTC', "to", as_of) as ends) p
  left join by_day b on b.day = d.day::date
  where b.day is not null or case when p.begins < p.ends then o.during && tstzrange(p.begins, p.ends) end
)
select day, stake_in, stake_in * 0.000000001, stake_out, stake_out * 0.000000001,
  delegated_in, delegated_in * 0.000000001, delegated_out, delegated_out * 0.000000001,
  stake_in + delegated_in - stake_out - delegated_out,
  (stake_in + delegated_in - stake_out - delegated_out) * 0.000000001
from every_day
where reporting_internal.has_record('validators', as_of)
order by day
$$;

comment on function reporting.stake_flows is 'Stake that was added to and removed from the primary network, by day. A day without observations has no row.';
