create or replace view reporting.gaps as
with missing as (
  -- A single poll covers one millisecond. A poll does not divide a gap if the time before and after it is missing for the same reason.
  select r.dataset, r.target, r.axis, r.reason, i.instant, range_agg(int8range(r.begins, r.ends + i.instant)) as ranges
  from reporting_internal.coverage_ranges r
  cross join lateral (select case r.axis when 'time' then 1000 else 0 end as instant) i
  where r.kind = 'missing'
  group by r.dataset, r.target, r.axis, r.reason, i.instant
)
select m.dataset, m.target,
  case m.axis when 'time' then to_timestamp(lower(p.range) / 1000000::float8) end as range_start,
  case m.axis when 'time' then to_timestamp((upper(p.range) - m.instant) / 1000000::float8) end as range_end,
  case m.axis when 'height' then lower(p.range) end as first_height,
  case m.axis when 'height' then upper(p.range) end as end_height,
  m.reason
from missing m
cross join lateral unnest(m.ranges) as p(range);

comment on view reporting.gaps is 'Missing data between the expected start and the newest recorded moment, with reasons. Neighbouring ranges with the same reason are one range, even if a single poll is between them.';
comment on column reporting.gaps.dataset is 'The dataset.'; -- text
comment on column reporting.gaps.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting.gaps.range_start is 'Start of the missing range. Null on the axis of heights.'; -- timestamptz
comment on column reporting.gaps.range_end is 'End of the missing range, exclusive. Null on the axis of heights.'; -- timestamptz
comment on column reporting.gaps.first_height is 'First missing height. Null on the axis of time.'; -- bigint
comment on column reporting.gaps.end_height is 'End of the missing heights, exclusive. Null on the axis of time.'; -- bigint
comment on column reporting.gaps.reason is 'Reason for the gap. Data with the reason "not recorded yet" can still be fetched, all other data cannot.'; -- text
