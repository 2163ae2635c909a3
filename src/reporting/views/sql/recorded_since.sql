create or replace view reporting_internal.recorded_since as
select d.dataset, d.target_key as target, d.first_success_at as recorded_since, k.kept_since
from recorder.target_datasets d
left join recorder.retention k using (dataset)
where d.first_success_at is not null
union all
select 'node_health', t.target_key, min(h.started_at), min(k.kept_since)
from recorder.node_health h
join recorder.targets t
  on (h.observer, h.node, h.probe) = (t.target ->> 'observer', t.target ->> 'node', t.target ->> 'probe')
join recorder.target_datasets d on d.dataset = 'node_health' and (d.source, d.target_key) = (t.source, t.target_key)
left join recorder.retention k on k.dataset = 'node_health'
where h.check_name = '*'
group by t.target_key;

comment on view reporting_internal.recorded_since is 'The start of the record of each dataset and target.';
comment on column reporting_internal.recorded_since.dataset is 'The dataset.'; -- text
comment on column reporting_internal.recorded_since.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting_internal.recorded_since.recorded_since is 'Observation time of the first successful run.'; -- timestamptz
comment on column reporting_internal.recorded_since.kept_since is 'Start of the retained data; older data may have been removed (reporting_internal.retention). Null: nothing was removed.'; -- timestamptz
