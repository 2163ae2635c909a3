create or replace function reporting_internal.window_begin(
  grain interval, -- Length of each window.
  at timestamptz -- The moment.
)
returns timestamptz
language sql stable parallel safe as $$
select case
  when grain > interval '0' and date_trunc('month', grain) = interval '0'
    then date_bin(grain, at at time zone 'UTC', timestamp '2000-01-03') at time zone 'UTC'
  when grain > interval '0' and date_trunc('month', grain) = grain
    then (timestamp '2000-01-01' + grain * floor(
      ((extract(year from at at time zone 'UTC') - 2000) * 12 + extract(month from at at time zone 'UTC') - 1)
        / (extract(year from grain) * 12 + extract(month from grain)))::float8) at time zone 'UTC'
  when grain is not null
    then reporting_internal.refused('grain: must be whole months, or a positive duration of days or less, not ' || grain)::timestamptz
end
$$;

comment on function reporting_internal.window_begin is 'The start of the window (UTC) that contains a moment. Whole months are counted from January 2000, other windows from a Monday.';
