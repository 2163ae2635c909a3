create or replace view reporting.freshness_by_dataset as
select f.dataset, count(*) as targets, count(f.last_success_at) as recorded,
  count(*) filter (where f.late_by > interval '0' and f.unsupported_reason is null) as late,
  count(*) filter (where f.failures > 0 and f.unsupported_reason is null) as failing, count(f.incomplete_since) as incomplete,
  count(f.unsupported_reason) as unsupported, min(f.last_success_at) as oldest_success_at, max(f.last_success_at) as newest_success_at,
  min(f.expected_every) as expected_every, sum(f.rows_written) as rows_written
from reporting.freshness f
group by f.dataset;

comment on view reporting.freshness_by_dataset is 'How current the record of each dataset is.';
comment on column reporting.freshness_by_dataset.dataset is 'The dataset.'; -- text
comment on column reporting.freshness_by_dataset.targets is 'What is asked for.'; -- bigint
comment on column reporting.freshness_by_dataset.recorded is 'Targets that were recorded at least once.'; -- bigint
comment on column reporting.freshness_by_dataset.late is 'Targets whose last success is longer ago than their schedule allows.'; -- bigint
comment on column reporting.freshness_by_dataset.failing is 'Targets whose last run failed.'; -- bigint
comment on column reporting.freshness_by_dataset.incomplete is 'Targets whose last run stored something, but not everything.'; -- bigint
comment on column reporting.freshness_by_dataset.unsupported is 'Targets that the upstream does not offer.'; -- bigint
comment on column reporting.freshness_by_dataset.oldest_success_at is 'When the one that is longest ago was recorded.'; -- timestamptz
comment on column reporting.freshness_by_dataset.newest_success_at is 'When the latest one was recorded.'; -- timestamptz
comment on column reporting.freshness_by_dataset.expected_every is 'How often it should be; null: never again.'; -- interval
comment on column reporting.freshness_by_dataset.rows_written is 'Rows written, ever.'; -- numeric
