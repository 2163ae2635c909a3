create or replace view reporting.series_breaks as
select b.chain_id, b.metric, b.broke_at, b.level_before, b.level_after,
  round(b.level_after / nullif(b.level_before, 0), 4) as ratio, b.strength, b.found_at
from recorder.series_breaks b;

comment on view reporting.series_breaks is 'Days on which the level of a daily metric changed at once and for good, as after a change of what is counted. A wrong day, an outage, weekends and growth are none; the numbers alone do not show the cause. Found three weeks later.';
comment on column reporting.series_breaks.chain_id is 'The chain.'; -- text
comment on column reporting.series_breaks.metric is 'The metric.'; -- text
comment on column reporting.series_breaks.broke_at is 'The first day of the new level.'; -- timestamptz
comment on column reporting.series_breaks.level_before is 'The median of the four weeks before, each by its median day.'; -- numeric
comment on column reporting.series_breaks.level_after is 'The median of the four weeks from then on.'; -- numeric
comment on column reporting.series_breaks.ratio is 'The new level as a share of the old one; null: the old one was zero.'; -- numeric
comment on column reporting.series_breaks.strength is 'How many times as much the level changed as it does from week to week.'; -- numeric
comment on column reporting.series_breaks.found_at is 'When it was found.'; -- timestamptz
