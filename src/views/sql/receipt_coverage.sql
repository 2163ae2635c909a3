create or replace view reporting.receipt_coverage as
select t.target ->> 'network' as network, regexp_replace(t.target ->> 'addresses', '^[A-Z]-', '') as address,
  coalesce(to_timestamp(lower(covered.range) / 1000::float8), '-infinity') as range_start,
  case when not (d.active and upper(covered.range) = upper(c.covered)) then to_timestamp(upper(covered.range) / 1000::float8) end as range_end
from recorder.target_datasets d
join recorder.targets t using (source, target_key)
join recorder.coverage c on c.dataset = d.dataset and c.target_key = d.target_key and c.axis = 'time'
left join recorder.retention k on k.dataset = d.dataset
cross join lateral (
  select unnest(c.covered * int8multirange(int8range((extract(epoch from k.kept_since) * 1000)::bigint, null))) as range) covered
where d.dataset = 'staking_transactions';

comment on view reporting.receipt_coverage is 'For which addresses and times reward transactions are recorded: those of watched addresses, where the dataset staking_transactions covers the time.';
comment on column reporting.receipt_coverage.network is 'The network.'; -- text
comment on column reporting.receipt_coverage.address is 'The address, without the chain.'; -- text
comment on column reporting.receipt_coverage.range_start is 'Start of the range.'; -- timestamptz
comment on column reporting.receipt_coverage.range_end is 'End of the range, exclusive; null: recording continues.'; -- timestamptz
