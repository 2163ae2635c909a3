create or replace view reporting_internal.run_months as
select d.starts_on as month, d.dataset, d.target_key as target, d.reason, d.runs, d.failed, d.lost, d.pages, d.items,
  d.rows_written, d.requests, d.budget_units, d.quarantined
from recorder.run_days d
where d.span = 'month';

comment on view reporting_internal.run_months is 'Counts of reporting_internal.run_days that are older than three months, added up by month.';
comment on column reporting_internal.run_months.month is 'The month (UTC) on which they started, by its first day.'; -- date
comment on column reporting_internal.run_months.dataset is 'The dataset.'; -- text
comment on column reporting_internal.run_months.target is 'What was asked about.'; -- text
comment on column reporting_internal.run_months.reason is 'poll, heal, sweep, backfill, manual, redrive or unwatched.'; -- text
comment on column reporting_internal.run_months.runs is 'Runs.'; -- bigint
comment on column reporting_internal.run_months.failed is 'Runs that failed.'; -- bigint
comment on column reporting_internal.run_months.lost is 'Runs whose worker died.'; -- bigint
comment on column reporting_internal.run_months.pages is 'Pages read, counted on the dataset that led the run.'; -- bigint
comment on column reporting_internal.run_months.items is 'Items in those pages.'; -- bigint
comment on column reporting_internal.run_months.rows_written is 'Rows written.'; -- bigint
comment on column reporting_internal.run_months.requests is 'Calls made, counted on the dataset that led the run.'; -- bigint
comment on column reporting_internal.run_months.budget_units is 'Budget units those calls cost, counted on the dataset that led the run.'; -- bigint
comment on column reporting_internal.run_months.quarantined is 'Items that could not be decoded, counted on the dataset that led the run.'; -- bigint
