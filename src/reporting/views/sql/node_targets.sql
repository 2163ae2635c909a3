create or replace view reporting_internal.node_targets as
select d.dataset, d.target_key, t.target ->> 'node' as node, t.target,
  case when d.active and d.failures = 0 and d.unsupported_reason is null and d.incomplete_since is null
    and d.last_complete_at >= now() - make_interval(secs => 3 * d.every_ms / 1000.0) then d.last_complete_at end as observed_at,
  greatest(d.first_success_at, d.requested_since) as first_at, make_interval(secs => d.every_ms / 1000.0) as every,
  d.left_at
from recorder.target_datasets d
join recorder.targets t using (source, target_key);

comment on view reporting_internal.node_targets is 'The targets of all datasets with their node, for the comparison of nodes.';
comment on column reporting_internal.node_targets.dataset is 'The dataset.'; -- text
comment on column reporting_internal.node_targets.target_key is 'The parameters of the request as text, as in reporting.coverage.'; -- text
comment on column reporting_internal.node_targets.node is 'The node of the target. Null: the target has no node.'; -- text
comment on column reporting_internal.node_targets.target is 'The parameters of the request.'; -- jsonb
comment on column reporting_internal.node_targets.observed_at is 'Time of the last observation. Null: the observation failed, is incomplete, or is late (more than three intervals old).'; -- timestamptz
comment on column reporting_internal.node_targets.first_at is 'Start of the record of the target, or of its configuration if that is later.'; -- timestamptz
comment on column reporting_internal.node_targets.every is 'Interval of the observations.'; -- interval
comment on column reporting_internal.node_targets.left_at is 'Time at which the target was removed from the configuration. Null: the target is configured.'; -- timestamptz
