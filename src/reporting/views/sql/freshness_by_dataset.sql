create or replace view reporting.freshness_by_dataset as
select f.dataset, count(*) as targets, count(f.last_success_at) as recorded,
  count(*) filter (where f.late_by > interval '0' and f.unsupported_reason is null) as late,
  count(*) filter (where f.failures > 0 and f.unsupported_reason is null) as failing, count(f.incomplete_since) as incomplete,
  count(f.unsupported_reason) as unsupported, min(f.last_success_at) as oldest_success_at, max(f.last_success_at) as newest_success_at,
  min(f.expected_every) as expected_every, sum(f.rows_written) as rows_written
from reporting.freshness f
group by f.dataset;

comment on view reporting.freshness_by_dataset is 'The freshness of each dataset.';
comment on column reporting.freshness_by_dataset.dataset is 'The dataset.'; -- text
comment on column reporting.freshness_by_dataset.targets is 'Number of configured targets.'; -- bigint
comment on column reporting.freshness_by_dataset.recorded is 'Number of targets that were recorded at least once.'; -- bigint
comment on column reporting.freshness_by_dataset.late is 'Number of targets whose last success is older than the schedule allows.'; -- bigint
comment on column reporting.freshness_by_dataset.failing is 'Number of targets whose last run failed.'; -- bigint
comment on column reporting.freshness_by_dataset.incomplete is 'Number of targets whose last run was incomplete.'; -- bigint
comment on column reporting.freshness_by_dataset.unsupported is 'Number of targets that the upstream does not offer.'; -- bigint
comment on column reporting.freshness_by_dataset.oldest_success_at is 'Oldest time of a last success among the targets.'; -- timestamptz
comment on column reporting.freshness_by_dataset.newest_success_at is 'Newest time of a last success among the targets.'; -- timestamptz
comment on column reporting.freshness_by_dataset.expected_every is 'Poll interval. Null: the data is not requested again.'; -- interval
comment on column reporting.freshness_by_dataset.rows_written is 'Total number of rows written.'; -- numeric
