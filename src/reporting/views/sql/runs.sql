create or replace view reporting.runs as
select r.run_id, d.dataset, r.target_key as target, r.reason, r.status, r.started_at, r.finished_at,
  case d.place when 1 then r.pages else 0 end as pages,
  r.items[d.place] as items, r.rows_written[d.place] as rows_written,
  case d.place when 1 then r.requests else 0 end as requests,
  case d.place when 1 then r.budget_units else 0 end as budget_units,
  r.error, r.note, r.quarantined, r.worker,
  case when r.axis = 'time' then to_timestamp(r.window_from / 1000.0) end as window_start,
  case when r.axis = 'time' then to_timestamp(r.window_to / 1000.0) end as window_end,
  case when r.axis = 'height' then r.window_from end as first_height
from recorder.runs r, unnest(r.datasets) with ordinality as d(dataset, place);

comment on view reporting.runs is 'One row per run and dataset. Pages, requests and units are counted once, for the first dataset of the run.';
comment on column reporting.runs.run_id is 'The id of the run.'; -- bigint
comment on column reporting.runs.dataset is 'The recorded dataset.'; -- text
comment on column reporting.runs.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting.runs.reason is 'poll, heal, sweep, backfill, manual, redrive or unwatched.'; -- text
comment on column reporting.runs.status is 'running, done, partial (stored, nothing retired), stopped, failed, unsupported, or lost (the worker was killed).'; -- text
comment on column reporting.runs.started_at is 'Start of the run.'; -- timestamptz
comment on column reporting.runs.finished_at is 'End of the run. Null: the run is in progress.'; -- timestamptz
comment on column reporting.runs.pages is 'Number of received pages.'; -- integer
comment on column reporting.runs.items is 'Number of items in the received pages.'; -- bigint
comment on column reporting.runs.rows_written is 'Number of rows written. Unchanged rows are not written again.'; -- bigint
comment on column reporting.runs.requests is 'Number of calls, including retries.'; -- integer
comment on column reporting.runs.budget_units is 'Budget units of the calls.'; -- bigint
comment on column reporting.runs.error is 'Error of the run.'; -- text
comment on column reporting.runs.note is 'Notes from the responses of the upstream.'; -- text
comment on column reporting.runs.quarantined is 'Number of items of the whole run that could not be decoded.'; -- bigint
comment on column reporting.runs.worker is 'The process that made the run.'; -- text
comment on column reporting.runs.window_start is 'Start of the time window of the run. Null: an observation, or a run over heights.'; -- timestamptz
comment on column reporting.runs.window_end is 'End of the time window of the run. Null: an observation, or a run over heights.'; -- timestamptz
comment on column reporting.runs.first_height is 'First height of the requested range. Null: an observation, or a run over time.'; -- bigint
