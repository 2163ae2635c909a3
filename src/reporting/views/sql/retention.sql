create or replace view reporting_internal.retention as
select r.dataset, r.kept_since, r.moved_at, r.finished_at, r.removed, r.removed_at
from recorder.retention r;

comment on view reporting_internal.retention is 'The datasets with a retention (retention in recorder.yaml): the start of the retained data, and the removed rows. A dataset without a row is kept without limit.';
comment on column reporting_internal.retention.dataset is 'The dataset; runs: the history of runs; quarantine: items that could not be decoded.'; -- text
comment on column reporting_internal.retention.kept_since is 'Start of the retained data. Queries of later moments are unaffected by the removal; a query of an earlier moment raises an error. The start only moves forward.'; -- timestamptz
comment on column reporting_internal.retention.moved_at is 'Time at which the start was last moved.'; -- timestamptz
comment on column reporting_internal.retention.finished_at is 'Time at which the removal was finished. Null: the removal is in progress.'; -- timestamptz
comment on column reporting_internal.retention.removed is 'Total number of removed rows and readings.'; -- bigint
comment on column reporting_internal.retention.removed_at is 'Time of the last removal. Null: nothing was removed yet.'; -- timestamptz
