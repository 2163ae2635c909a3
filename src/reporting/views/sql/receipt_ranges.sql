create or replace view reporting_internal.receipt_ranges as
select t.target ->> 'network' as network, regexp_replace(t.target ->> 'addresses', '^[A-Z]-', '') as address,
  coalesce(to_timestamp(lower(covered.range) / 1000::float8), '-infinity') as range_start,
  to_timestamp(upper(covered.range) / 1000::float8) as range_end,
  upper(covered.range) = upper(c.covered) as is_newest,
  d.first_success_at as recorded_since,
  d.active as is_watched,
  d.left_at as watched_until
from recorder.target_datasets d
join recorder.targets t using (source, target_key)
join recorder.coverage c on c.dataset = d.dataset and c.target_key = d.target_key and c.axis = 'time'
left join recorder.retention k on k.dataset = d.dataset
cross join lateral (
  select unnest(c.covered * int8multirange(int8range((extract(epoch from k.kept_since) * 1000)::bigint, null))) as range) covered
where d.dataset = 'staking_transactions';

comment on view reporting_internal.receipt_ranges is 'The times for which reward transactions of watched addresses are recorded: the times that the dataset staking_transactions covers.';
comment on column reporting_internal.receipt_ranges.network is 'The network.'; -- text
comment on column reporting_internal.receipt_ranges.address is 'The address, without the chain.'; -- text
comment on column reporting_internal.receipt_ranges.range_start is 'Start of the range.'; -- timestamptz
comment on column reporting_internal.receipt_ranges.range_end is 'End of the range, exclusive.'; -- timestamptz
comment on column reporting_internal.receipt_ranges.is_newest is 'True if the range is the newest range of its address.'; -- boolean
comment on column reporting_internal.receipt_ranges.recorded_since is 'Time of the first successful run for the address.'; -- timestamptz
comment on column reporting_internal.receipt_ranges.is_watched is 'True if the configuration watches the address now.'; -- boolean
comment on column reporting_internal.receipt_ranges.watched_until is 'Time at which the address was removed from the configuration. Null: the address is watched, or was removed before it was recorded.'; -- timestamptz
