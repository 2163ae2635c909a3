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

comment on view reporting.runs is 'One row a run and dataset. Pages, requests and units are counted once, on the dataset that leads the run.';
comment on column reporting.runs.run_id is 'The run.'; -- bigint
comment on column reporting.runs.dataset is 'The dataset recorded.'; -- text
comment on column reporting.runs.target is 'What was asked about, as key=value.'; -- text
comment on column reporting.runs.reason is 'poll, heal, sweep, backfill, manual, redrive or unwatched.'; -- text
comment on column reporting.runs.status is 'running, done, partial (stored, nothing retired), stopped, failed, unsupported, or lost (its worker died).'; -- text
comment on column reporting.runs.started_at is 'When it started.'; -- timestamptz
comment on column reporting.runs.finished_at is 'When it ended; null: it runs.'; -- timestamptz
comment on column reporting.runs.pages is 'Pages read.'; -- integer
comment on column reporting.runs.items is 'Items in those pages.'; -- bigint
comment on column reporting.runs.rows_written is 'Rows written; what was known already is not written again.'; -- bigint
comment on column reporting.runs.requests is 'Calls made, retries included.'; -- integer
comment on column reporting.runs.budget_units is 'Budget units those calls cost.'; -- bigint
comment on column reporting.runs.error is 'Why it failed.'; -- text
comment on column reporting.runs.note is 'What the upstream said beside the rows.'; -- text
comment on column reporting.runs.quarantined is 'Items of the whole run that could not be decoded.'; -- bigint
comment on column reporting.runs.worker is 'The process that ran it.'; -- text
comment on column reporting.runs.window_start is 'Begin of its window of time; null: an observation, or heights.'; -- timestamptz
comment on column reporting.runs.window_end is 'End of its window of time; null: an observation, or heights.'; -- timestamptz
comment on column reporting.runs.first_height is 'Begin of its window of heights, open to the newest; null: another kind of run.'; -- bigint
