create or replace view reporting_internal.permanent_gaps as
select g.dataset, g.target_key as target,
  case g.axis when 'time' then to_timestamp(lower(g.range) / 1000.0) end as range_start,
  case g.axis when 'time' then to_timestamp(upper(g.range) / 1000.0) end as range_end,
  case g.axis when 'height' then lower(g.range) end as first_height,
  case g.axis when 'height' then upper(g.range) end as end_height,
  g.reason, g.noticed_at
from recorder.gaps g
union all
-- An absence is stored after its end.
select 'node_health', 'observer=' || a.observer, a.started_at, a.ended_at, null, null, a.reason, a.ended_at
from recorder.health_absences a;

comment on view reporting_internal.permanent_gaps is 'Gaps that can no longer be fetched, and the time at which the loss was noticed. For the ledger: one row per observer and absence.';
comment on column reporting_internal.permanent_gaps.dataset is 'The dataset.'; -- text
comment on column reporting_internal.permanent_gaps.target is 'The target of the requests, as key=value; for the ledger, the observer.'; -- text
comment on column reporting_internal.permanent_gaps.range_start is 'Start of the lost range. Null on the axis of heights.'; -- timestamptz
comment on column reporting_internal.permanent_gaps.range_end is 'End of the lost range, exclusive. Null on the axis of heights.'; -- timestamptz
comment on column reporting_internal.permanent_gaps.first_height is 'First lost height. Null on the axis of time.'; -- bigint
comment on column reporting_internal.permanent_gaps.end_height is 'End of the lost heights, exclusive. Null on the axis of time.'; -- bigint
comment on column reporting_internal.permanent_gaps.reason is 'Reason of the loss.'; -- text
comment on column reporting_internal.permanent_gaps.noticed_at is 'Time at which the loss was noticed.'; -- timestamptz
