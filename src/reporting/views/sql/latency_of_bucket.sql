create or replace function reporting_internal.latency_of_bucket(
  bucket integer -- The bucket, 0 to 255. The end of each bucket is 10.5 % greater than the end of the previous bucket. The first bucket ends at 0.1 ms.
)
returns numeric
language sql stable parallel safe as $$
select round((0.1 * 2 * power(1.105263157894737::float8, bucket) / 2.105263157894737)::numeric, 3)
$$;

comment on function reporting_internal.latency_of_bucket is 'The response time in ms that represents a bucket of the packed histograms. Response times in the bucket differ from this time by at most 5 %.';
