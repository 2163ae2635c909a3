create or replace function reporting.window_begin(
  grain interval, -- How long each window is.
  at timestamptz -- The moment.
)
returns timestamptz
language sql stable parallel safe as $$
select case
  when grain < interval '1 month' then date_bin(grain, at at time zone 'UTC', timestamp '2000-01-03') at time zone 'UTC'
  else (date_trunc('year', at at time zone 'UTC')
    + div(extract(month from at at time zone 'UTC') - 1, extract(month from grain) + 12 * extract(year from grain))::float8
      * grain) at time zone 'UTC'
end
$$;

comment on function reporting.window_begin is 'The begin of the window in which a moment lies (UTC): whole months count from January, all else from a Monday.';
