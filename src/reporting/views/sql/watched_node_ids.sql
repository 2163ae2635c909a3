create or replace view reporting_internal.watched_node_ids as
select t.target ->> 'nodeId' as node_id, min(d.requested_since) as watched_since
from recorder.targets t
join recorder.target_datasets d using (source, target_key)
where d.active and t.target ? 'nodeId'
group by 1;

comment on view reporting_internal.watched_node_ids is 'The validators in watch.nodeIds of the configuration, as far as a dataset records them.';
comment on column reporting_internal.watched_node_ids.node_id is 'The node id of the validator.'; -- text
comment on column reporting_internal.watched_node_ids.watched_since is 'Start of the recording of the validator.'; -- timestamptz
