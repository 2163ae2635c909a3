create or replace function reporting_internal.receipt_coverage(
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  network text, -- The network.
  address text, -- The address, without the chain.
  range_start timestamptz, -- Start of the range.
  range_end timestamptz -- End of the range, exclusive; null: recording continues.
)
language sql stable parallel safe as $$
select r.network, r.address, r.range_start, case when not (watch.is_open and r.is_newest) then r.range_end end
from reporting_internal.receipt_ranges r
cross join lateral (
  select case when as_of >= now() then r.is_watched else r.is_watched or coalesce(r.watched_until > as_of, false) end as is_open) watch
where r.recorded_since <= as_of
$$;

comment on function reporting_internal.receipt_coverage is 'The addresses and times for which reward transactions were recorded at a moment: watched addresses, while the dataset staking_transactions covers the time.';
