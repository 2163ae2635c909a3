create or replace function reporting.receipt_coverage(
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  network text, -- The network.
  address text, -- The address, without the chain.
  range_start timestamptz, -- Start of the range.
  range_end timestamptz -- End of the range, exclusive; null: recording continues.
)
language sql stable parallel safe as $$
select t.target ->> 'network', regexp_replace(t.target ->> 'addresses', '^[A-Z]-', ''),
  coalesce(to_timestamp(lower(covered.range) / 1000::float8), '-infinity'),
  case when not (wanted.is_so and upper(covered.range) = upper(c.covered)) then to_timestamp(upper(covered.range) / 1000::float8) end
from recorder.target_datasets d
join recorder.targets t using (source, target_key)
join recorder.coverage c on c.dataset = d.dataset and c.target_key = d.target_key and c.axis = 'time'
left join recorder.retention k on k.dataset = d.dataset
cross join lateral (select case when as_of >= now() then d.active else d.active or coalesce(d.left_at > as_of, false) end as is_so) wanted
cross join lateral (
  select unnest(c.covered * int8multirange(int8range((extract(epoch from k.kept_since) * 1000)::bigint, null))) as range) covered
where d.dataset = 'staking_transactions' and d.first_success_at <= as_of
$$;

comment on function reporting.receipt_coverage is 'For which addresses and times reward transactions were recorded at a moment: those of watched addresses, where the dataset staking_transactions covers the time.';
