create or replace function reporting.peer_versions(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  seen_by text default null, -- Returns only the peers of this configured node.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  day date, -- The day (UTC). The other columns contain the last values observed before the end of the day.
  seen_by text, -- The configured node that reported the peers.
  version text, -- The version.
  peers bigint, -- Number of peers with the version.
  share_of_peers numeric, -- Share of all peers.
  stake numeric, -- Stake of the peers that validate, own and delegated, in nAVAX. Null: no validators are known for this day.
  stake_avax numeric, -- The same amount in AVAX.
  share_of_stake numeric -- Share of the stake of all peers.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('peers', "from") as peers, reporting_internal.kept_from('validators', "from") as validators
),
peers as (
  select e.day, p.node, p.node_id, coalesce(p.version, 'unknown') as version
  from reporting.peers_history p
  cross join kept k
  cross join lateral reporting_internal.day_ends(p.valid_from, p.valid_to, k.peers, least("to", as_of)) e
  where (peer_versions.seen_by is null or p.node = peer_versions.seen_by) and reporting_internal.has_record('peers', as_of)
),
stakes as (
  select e.day, h.node_id, sum(h.stake_navax + coalesce(h.delegator_weight, 0)) as stake
  from reporting.node_validators_history h
  cross join kept k
  cross join lateral reporting_internal.day_ends(h.valid_from, h.valid_to, k.validators, least("to", as_of)) e
  where h.subnet_id = '11111111111111111111111111111111LpoYY'
    and h.node = (select reporting_internal.validator_viewer('11111111111111111111111111111111LpoYY', as_of))
  group by 1, 2
),
by_version as (
  select p.day, p.node, p.version, count(*) as peers,
    case when p.day in (select s.day from stakes s) then coalesce(sum(s.stake), 0) end as stake
  from peers p left join stakes s using (day, node_id)
  group by 1, 2, 3
)
select v.day, v.node, v.version, v.peers, round(v.peers / sum(v.peers) over one_day, 9), v.stake, v.stake * 0.000000001,
  round(v.stake / nullif(sum(v.stake) over one_day, 0), 9)
from by_version v
window one_day as (partition by v.day, v.node)
order by 1, 2, 3
$$;

comment on function reporting.peer_versions is 'The versions of the peers of configured nodes, by number and by stake.';
