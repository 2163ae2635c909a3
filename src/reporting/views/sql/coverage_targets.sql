create or replace view reporting_internal.coverage_targets as
select dataset, target_key as target from recorder.coverage
union
select dataset, target_key from recorder.gaps
union
select dataset, target_key from recorder.target_datasets where dataset = 'node_health';

comment on view reporting_internal.coverage_targets is 'The targets with ranges in reporting_internal.coverage_ranges.';
comment on column reporting_internal.coverage_targets.dataset is 'The dataset.'; -- text
comment on column reporting_internal.coverage_targets.target is 'The target of the requests, as key=value.'; -- text
