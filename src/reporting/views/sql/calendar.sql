create or replace view reporting.calendar as
-- From a day before the start of the networks to the end of the year after the next one, because stakes end in the future.
select d.starts_at::date as day, date_trunc('week', d.starts_at)::date as week, date_trunc('month', d.starts_at)::date as month,
  date_trunc('quarter', d.starts_at)::date as quarter, extract(year from d.starts_at)::integer as year,
  extract(isodow from d.starts_at)::integer as weekday, d.starts_at at time zone 'UTC' as starts_at,
  (d.starts_at at time zone 'UTC') + interval '24 hours' as ends_at,
  (d.starts_at at time zone 'UTC') + interval '24 hours' <= now() as is_over
from generate_series(timestamp '2020-01-01', date_trunc('year', now() at time zone 'UTC') + interval '36 months' - interval '24 hours', interval '24 hours') as d(starts_at);

comment on view reporting.calendar is 'The days of UTC, from 2020 to the end of the year after the next one.';
comment on column reporting.calendar.day is 'The day (UTC).'; -- date
comment on column reporting.calendar.week is 'The Monday of the week.'; -- date
comment on column reporting.calendar.month is 'The first day of the month.'; -- date
comment on column reporting.calendar.quarter is 'The first day of the quarter.'; -- date
comment on column reporting.calendar.year is 'The year.'; -- integer
comment on column reporting.calendar.weekday is 'The day of the week, from 1 (Monday) to 7.'; -- integer
comment on column reporting.calendar.starts_at is 'Start of the day.'; -- timestamptz
comment on column reporting.calendar.ends_at is 'End of the day, exclusive.'; -- timestamptz
comment on column reporting.calendar.is_over is 'True if the day has ended.'; -- boolean
