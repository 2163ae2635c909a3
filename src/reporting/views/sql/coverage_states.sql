create or replace view reporting_internal.coverage_states as
select d.dataset, d.target_key as target,
  case
    when d.unsupported_reason is not null then 'not supported'
    when looked.last_success_at is null and d.failures > 0 then 'failed'
    when looked.last_success_at is null then 'never requested'
    when d.failures > 0 then 'failing'
    when d.dataset <> 'node_health' and d.items = 0 then 'empty'
    else 'covered' end as state,
  coalesce((
    select count(*) from reporting.gaps g where g.dataset = d.dataset and g.target = d.target_key), 0) as gaps,
  looked.last_success_at, d.last_failure_at
from recorder.target_datasets d
join recorder.targets t using (source, target_key)
left join recorder.health_probes p on d.dataset = 'node_health'
  and (p.observer, p.node, p.probe) = (t.target ->> 'observer', t.target ->> 'node', t.target ->> 'probe')
cross join lateral (
  select greatest(d.last_success_at, p.probed_at) as last_success_at,
    greatest(d.last_complete_at, p.probed_at) as last_complete_at) looked
where d.active;

comment on view reporting_internal.coverage_states is 'The state of the recorded data of each dataset and target.';
comment on column reporting_internal.coverage_states.dataset is 'The dataset.'; -- text
comment on column reporting_internal.coverage_states.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting_internal.coverage_states.state is 'covered; empty (requested, no data); failing (recorded before, fails now); failed (requested, no successful response yet); never requested; not supported (the upstream does not offer the target).'; -- text
comment on column reporting_internal.coverage_states.gaps is 'Number of gaps in the recorded data (reporting.gaps).'; -- bigint
comment on column reporting_internal.coverage_states.last_success_at is 'Time of the last successful run.'; -- timestamptz
comment on column reporting_internal.coverage_states.last_failure_at is 'Time of the last failed run.'; -- timestamptz
