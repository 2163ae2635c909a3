create or replace view reporting.nodes as
with configured as (
  select distinct t.target ->> 'node' as node from recorder.targets t where t.target ? 'node'
  union
  select h.node from reporting_internal.node_health_now h
)
select c.node, i.node_id, i.network_name as network, i.version, h.health, h.readiness, h.liveness, h.since, h.error, h.failing_checks, h.observers,
  h.observed_at, v.tx_id as validation_tx_id, v.start_time as validation_start, v.end_time as validation_end, v.stake_navax,
  v.delegator_weight as delegated_navax
from configured c
left join reporting.node_identity i using (node)
left join reporting_internal.node_health_now h using (node)
-- The validation on the primary network, by the list of the node itself.
left join lateral (
  select v.tx_id, v.start_time, v.end_time, v.stake_navax, v.delegator_weight
  from reporting.node_validators v
  where v.node = c.node and v.subnet_id = '11111111111111111111111111111111LpoYY' and v.node_id = i.node_id
    and coalesce(v.end_time > now(), true)
  order by v.start_time desc limit 1) v on true;

comment on view reporting.nodes is 'The nodes that are or were configured, with their id, their state and their validation on the primary network, one row per node.';
comment on column reporting.nodes.node is 'The configured name of the node.'; -- text
comment on column reporting.nodes.node_id is 'The node id. Null: node_identity is not recorded.'; -- text
comment on column reporting.nodes.network is 'Name of the network. Null: node_identity is not recorded.'; -- text
comment on column reporting.nodes.version is 'Version of the node. Null: node_identity is not recorded.'; -- text
comment on column reporting.nodes.health is 'State by the probe health: up, down, unknown or maintenance (announced). Null: the probe is not configured.'; -- text
comment on column reporting.nodes.readiness is 'State by the probe readiness: up, down, unknown or maintenance (announced). Null: the probe is not configured.'; -- text
comment on column reporting.nodes.liveness is 'State by the probe liveness: up, down, unknown or maintenance (announced). Null: the probe is not configured.'; -- text
comment on column reporting.nodes.since is 'Start of the state by the probe health, as first seen by an observer. Null: no observer watches, or the probe is not configured.'; -- timestamptz
comment on column reporting.nodes.error is 'The latest error message. Null: the node is up.'; -- text
comment on column reporting.nodes.failing_checks is 'The failing checks. Null: the node is not probed.'; -- text[]
comment on column reporting.nodes.observers is 'Number of observers that watch the node. Null: the node is not probed.'; -- bigint
comment on column reporting.nodes.observed_at is 'Time of the last probe. Null: the node is not probed.'; -- timestamptz
comment on column reporting.nodes.validation_tx_id is 'The transaction of the validation. Null: the node does not validate the primary network, or validators is not recorded.'; -- text
comment on column reporting.nodes.validation_start is 'Start of the validation. Null: the node does not validate.'; -- timestamptz
comment on column reporting.nodes.validation_end is 'End of the validation. Null: the node does not validate.'; -- timestamptz
comment on column reporting.nodes.stake_navax is 'Own stake, in nAVAX. Null: the node does not validate.'; -- numeric
comment on column reporting.nodes.delegated_navax is 'Delegated stake, in nAVAX. Null: the node does not validate.'; -- numeric
