create or replace function reporting.my_validators(
  node_id text default null, -- Returns only this validator. Default: all validators.
  threshold numeric default 80, -- The uptime that a reward requires, in percent.
  upgrade_at timestamptz default null, -- Validations that start at this moment or later require threshold_after. Default: none.
  threshold_after numeric default 90, -- The uptime that a reward requires after the upgrade, in percent.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  node_id text, -- The node id of the validator.
  node text, -- The configured node with this id; null: no configured node has this id.
  state text, -- up, down, unknown or maintenance, by the probe health of the node; null: the node is not probed.
  state_since timestamptz, -- Start of the state; null: unknown.
  node_uptime numeric, -- Uptime of the node over the last 30 days, up / (up + down); null: neither was observed.
  uptime numeric, -- Uptime of the validation in percent, as reported by the configured node with the lowest value within a day. The value of the validator itself is used only if there is no other value.
  uptime_seen_by text, -- The configured node that reported this uptime.
  rewarding_stake numeric, -- Share of the stake that observes the node above the requirement, in percent, as the node itself reports.
  threshold numeric, -- The uptime that the reward of this validation requires, in percent.
  downtime_left_minutes numeric, -- Minutes that the validator may be down until its end without missing the threshold; negative: the threshold is missed.
  stake_avax numeric, -- Own stake on the primary network; null: the validator does not validate the primary network.
  delegated_avax numeric, -- Stake of the delegations.
  delegations numeric, -- Number of delegations.
  free_capacity_avax numeric, -- Stake that can still be delegated. Limit of the total stake: 5 times the stake of the validator, at most 3 million AVAX.
  end_time timestamptz, -- End of the validation on the primary network.
  days_left numeric, -- Days until the end of the validation.
  reward_expected_avax numeric, -- Potential reward of the validation and accrued fees of ended delegations.
  rewards_received_avax numeric, -- Recorded rewards and fees of this validator, since the start of the record; null: no staking transaction is recorded.
  blocks_7d numeric, -- Blocks that the validator proposed today and on the 6 days before (UTC), where expected_blocks_7d is known; null: proposed blocks are not recorded.
  expected_blocks_7d numeric, -- Blocks expected from the share of the stake on the same days; null: unknown.
  version text, -- Version of the node, as reported by the node itself or by its peers; null: unknown.
  network_version text, -- Version of the nodes with the most stake on the network, as reported by the peers of the configured nodes.
  is_outdated boolean, -- The version is lower than network_version; null: unknown.
  l1_validations bigint, -- Number of validations on watched L1s.
  l1_subnet_id text, -- The L1 whose balance is used up first.
  l1_balance_avax numeric, -- Balance of the validation on this L1.
  l1_days_left numeric -- Days until this balance is used up at its rate of the last 7 days; null: no decrease of the balance was observed.
)
language sql stable parallel safe as $$
with recorded as materialized (
  select reporting_internal.has_record('validators', as_of) as is_known,
    exists (select from reporting_internal.recorded_since r where r.dataset = 'proposed_blocks' and r.recorded_since <= as_of) as has_blocks,
    exists (select from reporting_internal.recorded_since r where r.dataset = 'staking_transactions' and r.recorded_since <= as_of) as has_rewards
),
mine as materialized (
  select m.node_id, min(m.node) as node
  from (
    select i.node_id, i.node from reporting.node_identity_history i
    where i.node_id is not null and i.valid_from <= as_of and (i.valid_to is null or i.valid_to > as_of)
    union all
    select w.node_id, null from reporting_internal.watched_node_ids w) m
  where my_validators.node_id is null or m.node_id = my_validators.node_id
  group by m.node_id
),
stakes as materialized (
  select distinct on (h.node_id) h.node_id, h.stake_navax, coalesce(h.delegator_weight, 0) as delegated, h.delegator_count,
    h.start_time, h.end_time, h.potential_reward, h.accrued_delegatee_reward
  from reporting.node_validators_history h
  where h.subnet_id = '11111111111111111111111111111111LpoYY' and h.valid_from <= as_of and (h.valid_to is null or h.valid_to > as_of)
    -- A node that no longer answers keeps its last list.
    and coalesce(h.end_time > as_of, true)
  order by h.node_id, h.start_time desc, h.valid_from desc, h.node
),
own_stakes as materialized (
  select s.*, case when s.start_time >= upgrade_at then threshold_after else my_validators.threshold end as required
  from stakes s join mine m using (node_id)
),
health as (
  select n.node, n.health as state, n.since from reporting_internal.node_health_now n where as_of >= now()
  union all
  select p.node, coalesce(max(q.state), 'unknown'), null
  from reporting_internal.node_probes p
  left join reporting_internal.node_quorum_states_in(as_of - interval '1 minute', as_of) q
    on (q.node, q.probe) = (p.node, p.probe) and q.ended_at = as_of
  where as_of < now() and p.probe = 'health' and p.watched @> as_of
  group by p.node
),
node_uptimes as (
  select q.node, q.uptime from reporting.node_quorum(as_of - interval '720 hours', as_of) q where q.probe = 'health'
),
last_views as (
  select distinct on (u.node_id, u.node) u.node_id, u.node, u.uptime, u.observed_at
  from reporting.validator_uptime u
  -- As an array, so that only these validators' readings are unpacked.
  where u.node_id = any (array(select m.node_id from mine m)) and u.subnet_id = '11111111111111111111111111111111LpoYY'
    and u.observed_at > as_of - interval '24 hours' and u.observed_at <= as_of and u.uptime is not null
  order by u.node_id, u.node, u.observed_at desc
),
lowest_views as (
  select distinct on (v.node_id) v.node_id, v.node, v.uptime, v.observed_at
  from last_views v
  -- The last identity, also of a node that the configuration no longer contains.
  left join lateral (
    select h.node_id from reporting.node_identity_history h
    where h.node = v.node and h.valid_from <= as_of order by h.valid_from desc limit 1) i on true
  left join own_stakes s on s.node_id = v.node_id
  -- Without the views of an earlier validation.
  where v.observed_at >= coalesce(s.start_time, '-infinity')
  order by v.node_id, coalesce(i.node_id = v.node_id, false), v.uptime, v.node
),
rewarding as (
  select distinct on (u.node) u.node, u.rewarding_stake_percentage as share
  from reporting.node_reported_uptime u
  where u.subnet_id = '11111111111111111111111111111111LpoYY' and u.observed_at > as_of - interval '24 hours' and u.observed_at <= as_of
  order by u.node, u.observed_at desc
),
rewards as (
  -- The service names the validator in the staking transaction, not in the reward transaction.
  select w.node_id, sum(w.received * ('1e-' || w.denomination)::numeric) as received
  from reporting.rewards_as_of(as_of) w
  where (select r.has_rewards from recorded r) and w.reward_type in ('VALIDATOR', 'VALIDATOR_FEE')
    and w.node_id = any (array(select m.node_id from mine m)) and w.received_at <= as_of
  group by 1
),
blocks as (
  select b.node_id, sum(b.blocks) as blocks, sum(b.expected_blocks) as expected
  from reporting.blocks_proposed(date_trunc('day', as_of, 'UTC') - interval '144 hours', as_of, my_validators.node_id, as_of) b
  where (select r.has_blocks from recorded r) and b.expected_blocks is not null
  group by 1
),
peer_versions as materialized (
  select distinct on (p.node_id) p.node_id, p.version, string_to_array(substring(p.version from '(\d{1,9}\.\d{1,9}\.\d{1,9})'), '.')::bigint[] as number
  from reporting.peers_history p
  where p.valid_from <= as_of and (p.valid_to is null or p.valid_to > as_of)
  order by p.node_id, p.valid_from desc, p.node
),
network_version as materialized (
  select p.version, p.number
  from peer_versions p left join stakes s using (node_id)
  where p.number is not null
  group by p.version, p.number
  order by sum(s.stake_navax + s.delegated) desc nulls last, count(*) desc, p.number desc
  limit 1
),
versions as (
  select m.node_id, coalesce(i.version, p.version) as version,
    case when i.version is null then p.number
      else string_to_array(substring(i.version from '(\d{1,9}\.\d{1,9}\.\d{1,9})'), '.')::bigint[] end as number
  from mine m
  left join reporting.node_identity_history i
    on i.node = m.node and i.valid_from <= as_of and (i.valid_to is null or i.valid_to > as_of)
  left join peer_versions p on p.node_id = m.node_id
),
l1s as (
  select distinct on (r.node_id) r.node_id, count(*) over (partition by r.node_id) as validations, r.subnet_id, r.balance_avax,
    round(extract(epoch from r.runs_dry_at - as_of) / 86400, 4) as days_left
  from reporting.l1_runway(null, 7, as_of) r
  where r.node_id = any (array(select m.node_id from mine m))
  order by r.node_id, r.runs_dry_at nulls last, r.balance, r.validation_id
)
select m.node_id, m.node, h.state, h.since, u.uptime, v.uptime, v.node, g.share, s.required,
  floor((extract(epoch from s.end_time - s.start_time) * (100 - s.required)
    - extract(epoch from v.observed_at - s.start_time) * (100 - v.uptime)) / 6000),
  s.stake_navax * 0.000000001, s.delegated * 0.000000001, s.delegator_count,
  case when s.stake_navax is not null
    then greatest(least(5 * s.stake_navax, 3000000000000000) - s.stake_navax - s.delegated, 0) * 0.000000001 end,
  s.end_time, round(extract(epoch from s.end_time - as_of) / 86400, 4),
  (s.potential_reward + coalesce(s.accrued_delegatee_reward, 0)) * 0.000000001,
  case when r.has_rewards then coalesce(w.received, 0) end,
  case when r.has_blocks then coalesce(b.blocks, 0) end, b.expected,
  x.version, n.version, x.number < n.number,
  coalesce(l.validations, 0), l.subnet_id, l.balance_avax, l.days_left
from mine m
cross join recorded r
left join own_stakes s using (node_id)
left join health h on h.node = m.node
left join node_uptimes u on u.node = m.node
left join lowest_views v on v.node_id = m.node_id
left join rewarding g on g.node = m.node
left join rewards w on w.node_id = m.node_id
left join blocks b on b.node_id = m.node_id
left join versions x on x.node_id = m.node_id
left join network_version n on true
left join l1s l on l.node_id = m.node_id
-- As a subquery, so that the check is evaluated even if there is no validator.
where (select r.is_known from recorded r)
order by s.node_id is null, m.node nulls last, m.node_id
$$;

comment on function reporting.my_validators is 'The validators of the user, one row each: those in watch.nodeIds of the configuration, and those of configured nodes.';
