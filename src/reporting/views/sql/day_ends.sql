create or replace function reporting_internal.day_ends(
  valid_from timestamptz, -- Start of the validity of a row.
  valid_to timestamptz, -- End of the validity. Null: the row is still valid.
  "from" timestamptz, -- Start of the window.
  "to" timestamptz -- End of the window, exclusive.
)
returns table (
  day date -- The day (UTC).
)
language sql stable parallel safe as $$
select d::date
from generate_series(
  greatest(valid_from at time zone 'UTC', "from" at time zone 'UTC')::date::timestamp,
  case
    when valid_to is null or valid_to >= "to" then (("to" at time zone 'UTC') - interval '1 microsecond')::date
    else (valid_to at time zone 'UTC')::date - 1
  end::timestamp,
  interval '1 day') as d
where valid_from < "to"
$$;

comment on function reporting_internal.day_ends is 'The days of a window at whose end a row was valid. The last day ends at the end of the window.';
