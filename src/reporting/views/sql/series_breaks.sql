create or replace view reporting.series_breaks as
select b.chain_id, b.metric, b.broke_at, b.level_before, b.level_after,
  round(b.level_after / nullif(b.level_before, 0), 4) as ratio, b.strength, b.found_at
from recorder.series_breaks b;

comment on view reporting.series_breaks is 'Days on which the level of a daily metric changed abruptly and permanently, for example after a change of its definition. A single wrong day, an outage, weekends and growth are no level shifts. The numbers alone do not show the cause. A level shift is detected after three weeks.';
comment on column reporting.series_breaks.chain_id is 'The chain.'; -- text
comment on column reporting.series_breaks.metric is 'The metric.'; -- text
comment on column reporting.series_breaks.broke_at is 'The first day of the new level.'; -- timestamptz
comment on column reporting.series_breaks.level_before is 'Median of the four weeks before, each represented by its median day.'; -- numeric
comment on column reporting.series_breaks.level_after is 'Median of the four weeks after.'; -- numeric
comment on column reporting.series_breaks.ratio is 'The new level divided by the old level. Null: the old level was zero.'; -- numeric
comment on column reporting.series_breaks.strength is 'The change of the level divided by its usual change from week to week.'; -- numeric
comment on column reporting.series_breaks.found_at is 'Time at which the level shift was detected.'; -- timestamptz
