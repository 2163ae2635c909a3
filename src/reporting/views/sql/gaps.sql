create or replace view reporting.gaps as
select r.dataset, r.target,
  case r.axis when 'time' then to_timestamp(r.begins / 1000000::float8) end as range_start,
  case r.axis when 'time' then to_timestamp(r.ends / 1000000::float8) end as range_end,
  case r.axis when 'height' then r.begins end as first_height,
  case r.axis when 'height' then r.ends end as end_height,
  r.reason
from reporting_internal.coverage_ranges r
where r.kind = 'missing';

comment on view reporting.gaps is 'What is missing between the expected start and the newest recorded moment, and why.';
comment on column reporting.gaps.dataset is 'The dataset.'; -- text
comment on column reporting.gaps.target is 'What was asked about.'; -- text
comment on column reporting.gaps.range_start is 'First moment that is missing; null on the axis of heights.'; -- timestamptz
comment on column reporting.gaps.range_end is 'End of what is missing; null on the axis of heights.'; -- timestamptz
comment on column reporting.gaps.first_height is 'First height that is missing; null on the axis of time.'; -- bigint
comment on column reporting.gaps.end_height is 'End of what is missing; null on the axis of time.'; -- bigint
comment on column reporting.gaps.reason is 'Why: "not recorded yet" can still be fetched, anything else cannot.'; -- text
