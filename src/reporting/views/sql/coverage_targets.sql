create or replace view reporting_internal.coverage_targets as
select dataset, target_key as target from recorder.coverage
union
select dataset, target_key from recorder.gaps
union
select dataset, target_key from recorder.target_datasets where dataset = 'node_health';

comment on view reporting_internal.coverage_targets is 'Of which targets reporting_internal.coverage_ranges can tell.';
comment on column reporting_internal.coverage_targets.dataset is 'The dataset.'; -- text
comment on column reporting_internal.coverage_targets.target is 'What was asked about.'; -- text
