create or replace view reporting_internal.run_days as
select d.starts_on as day, d.dataset, d.target_key as target, d.reason, d.runs, d.failed, d.lost, d.pages, d.items,
  d.rows_written, d.requests, d.budget_units, d.quarantined
from recorder.run_days d
where d.span = 'day';

comment on view reporting_internal.run_days is 'Runs that were removed from reporting.runs (setting runs), counted by day.';
comment on column reporting_internal.run_days.day is 'The day (UTC) on which they started.'; -- date
comment on column reporting_internal.run_days.dataset is 'The dataset.'; -- text
comment on column reporting_internal.run_days.target is 'What was asked about.'; -- text
comment on column reporting_internal.run_days.reason is 'poll, heal, sweep, backfill, manual, redrive or unwatched.'; -- text
comment on column reporting_internal.run_days.runs is 'Runs.'; -- bigint
comment on column reporting_internal.run_days.failed is 'Runs that failed.'; -- bigint
comment on column reporting_internal.run_days.lost is 'Runs whose worker died.'; -- bigint
comment on column reporting_internal.run_days.pages is 'Pages read, counted on the dataset that led the run.'; -- bigint
comment on column reporting_internal.run_days.items is 'Items in those pages.'; -- bigint
comment on column reporting_internal.run_days.rows_written is 'Rows written.'; -- bigint
comment on column reporting_internal.run_days.requests is 'Calls made, counted on the dataset that led the run.'; -- bigint
comment on column reporting_internal.run_days.budget_units is 'Budget units those calls cost, counted on the dataset that led the run.'; -- bigint
comment on column reporting_internal.run_days.quarantined is 'Items that could not be decoded, counted on the dataset that led the run.'; -- bigint
