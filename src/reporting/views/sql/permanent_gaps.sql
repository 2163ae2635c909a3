create or replace view reporting.permanent_gaps as
select g.dataset, g.target_key as target,
  case g.axis when 'time' then to_timestamp(lower(g.range) / 1000.0) end as range_start,
  case g.axis when 'time' then to_timestamp(upper(g.range) / 1000.0) end as range_end,
  case g.axis when 'height' then lower(g.range) end as first_height,
  case g.axis when 'height' then upper(g.range) end as end_height,
  g.reason, g.noticed_at
from recorder.gaps g
union all
-- When an observer did not look is known once it looks again.
select 'node_health', 'observer=' || a.observer, a.started_at, a.ended_at, null, null, a.reason, a.ended_at
from recorder.health_absences a;

comment on view reporting.permanent_gaps is 'Gaps that can no longer be fetched, and when that was noticed. Of the ledger one row an observer and time in which it did not look.';
comment on column reporting.permanent_gaps.dataset is 'The dataset.'; -- text
comment on column reporting.permanent_gaps.target is 'What was asked about; of the ledger the observer.'; -- text
comment on column reporting.permanent_gaps.range_start is 'First moment that is lost; null on the axis of heights.'; -- timestamptz
comment on column reporting.permanent_gaps.range_end is 'End of what is lost; null on the axis of heights.'; -- timestamptz
comment on column reporting.permanent_gaps.first_height is 'First height that is lost; null on the axis of time.'; -- bigint
comment on column reporting.permanent_gaps.end_height is 'End of what is lost; null on the axis of time.'; -- bigint
comment on column reporting.permanent_gaps.reason is 'Why.'; -- text
comment on column reporting.permanent_gaps.noticed_at is 'When it was noticed.'; -- timestamptz
