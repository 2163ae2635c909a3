create or replace view reporting_internal.run_days as
select d.starts_on as day, d.dataset, d.target_key as target, d.reason, d.runs, d.failed, d.lost, d.pages, d.items,
  d.rows_written, d.requests, d.budget_units, d.quarantined
from recorder.run_days d
where d.span = 'day';

comment on view reporting_internal.run_days is 'Runs that were removed from reporting.runs (setting runs), counted by day.';
comment on column reporting_internal.run_days.day is 'The day (UTC) on which the runs started.'; -- date
comment on column reporting_internal.run_days.dataset is 'The dataset.'; -- text
comment on column reporting_internal.run_days.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting_internal.run_days.reason is 'poll, heal, sweep, backfill, manual, redrive or unwatched.'; -- text
comment on column reporting_internal.run_days.runs is 'Number of runs.'; -- bigint
comment on column reporting_internal.run_days.failed is 'Number of failed runs.'; -- bigint
comment on column reporting_internal.run_days.lost is 'Number of runs whose worker was killed.'; -- bigint
comment on column reporting_internal.run_days.pages is 'Number of received pages, counted for the first dataset of the run.'; -- bigint
comment on column reporting_internal.run_days.items is 'Number of items in the received pages.'; -- bigint
comment on column reporting_internal.run_days.rows_written is 'Number of rows written.'; -- bigint
comment on column reporting_internal.run_days.requests is 'Number of calls, counted for the first dataset of the run.'; -- bigint
comment on column reporting_internal.run_days.budget_units is 'Budget units of the calls, counted for the first dataset of the run.'; -- bigint
comment on column reporting_internal.run_days.quarantined is 'Number of items that could not be decoded, counted for the first dataset of the run.'; -- bigint
