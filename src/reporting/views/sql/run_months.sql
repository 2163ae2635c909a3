create or replace view reporting_internal.run_months as
select d.starts_on as month, d.dataset, d.target_key as target, d.reason, d.runs, d.failed, d.lost, d.pages, d.items,
  d.rows_written, d.requests, d.budget_units, d.quarantined
from recorder.run_days d
where d.span = 'month';

comment on view reporting_internal.run_months is 'Counts of reporting_internal.run_days older than three months, aggregated by month.';
comment on column reporting_internal.run_months.month is 'First day of the month (UTC) in which the runs started.'; -- date
comment on column reporting_internal.run_months.dataset is 'The dataset.'; -- text
comment on column reporting_internal.run_months.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting_internal.run_months.reason is 'poll, heal, sweep, backfill, manual, redrive or unwatched.'; -- text
comment on column reporting_internal.run_months.runs is 'Number of runs.'; -- bigint
comment on column reporting_internal.run_months.failed is 'Number of failed runs.'; -- bigint
comment on column reporting_internal.run_months.lost is 'Number of runs whose worker was killed.'; -- bigint
comment on column reporting_internal.run_months.pages is 'Number of received pages, counted for the first dataset of the run.'; -- bigint
comment on column reporting_internal.run_months.items is 'Number of items in the received pages.'; -- bigint
comment on column reporting_internal.run_months.rows_written is 'Number of rows written.'; -- bigint
comment on column reporting_internal.run_months.requests is 'Number of calls, counted for the first dataset of the run.'; -- bigint
comment on column reporting_internal.run_months.budget_units is 'Budget units of the calls, counted for the first dataset of the run.'; -- bigint
comment on column reporting_internal.run_months.quarantined is 'Number of items that could not be decoded, counted for the first dataset of the run.'; -- bigint
