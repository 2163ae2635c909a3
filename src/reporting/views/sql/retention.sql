create or replace view reporting.retention as
select r.dataset, r.kept_since, r.moved_at, r.finished_at, r.removed, r.removed_at
from recorder.retention r;

comment on view reporting.retention is 'What is not kept forever (retention in recorder.yaml): from when on each dataset is kept whole, and what was removed. No row: it is kept forever.';
comment on column reporting.retention.dataset is 'The dataset; runs and quarantine: what is kept about runs, and items that could not be read.'; -- text
comment on column reporting.retention.kept_since is 'Every moment from here on is answered as if nothing had been removed; one before it is an error. It only moves forward.'; -- timestamptz
comment on column reporting.retention.moved_at is 'When that moment was moved last.'; -- timestamptz
comment on column reporting.retention.finished_at is 'When all that was to go was gone; null: it is being removed.'; -- timestamptz
comment on column reporting.retention.removed is 'Rows and readings that were removed, ever.'; -- bigint
comment on column reporting.retention.removed_at is 'When some were removed last; null: none yet.'; -- timestamptz
