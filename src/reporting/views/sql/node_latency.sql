create or replace function reporting.node_latency(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz -- End of the window, exclusive.
)
returns table (
  observer text, -- The observer: the name of its recorder.
  node text, -- The configured node.
  probe text, -- The probe.
  probes bigint, -- Number of counted probes.
  p50 numeric, -- The median, in ms.
  p95 numeric, -- 95th percentile of the response times, in ms.
  p99 numeric -- 99th percentile of the response times, in ms.
)
language sql stable parallel safe as $$
with whole_days as (
  select date_trunc('day', ("from" + interval '24 hours' - interval '1 microsecond') at time zone 'UTC') at time zone 'UTC' as first,
    date_trunc('day', ("to") at time zone 'UTC') at time zone 'UTC' as beyond
),
-- The counted days of each month and hours of each week: slots from low to high, without the slots from skip to unto.
spans as (
  select l.observer, l.node, l.probe, l.entries,
    ceil(extract(epoch from w.first - l.starts_at) / 86400) + 1 as low,
    floor(extract(epoch from w.beyond - l.starts_at) / 86400) as high,
    null::numeric as skip, null::numeric as unto
  from whole_days w
  join reporting_internal.node_latency_spans l
    on l.span = 'month' and l.starts_at > (w.first at time zone 'UTC' - interval '1 month') at time zone 'UTC' and l.starts_at < w.beyond
  union all
  select l.observer, l.node, l.probe, l.entries, ceil(extract(epoch from "from" - l.starts_at) / 3600),
    floor(extract(epoch from "to" - l.starts_at) / 3600) - 1,
    case when w.first < w.beyond then extract(epoch from w.first - l.starts_at) / 3600 end,
    extract(epoch from w.beyond - l.starts_at) / 3600 - 1
  from whole_days w
  join reporting_internal.node_latency_spans l
    on l.span = 'week' and l.starts_at > "from" - interval '168 hours' and l.starts_at < "to"
  union all
  select p.observer, p.node, p.probe, p.entries, 0, 0, null, null
  from reporting_internal.node_probes p
  where p.hour >= "from" and p.hour < "to"
),
-- Unpacked once, because each access to a byte of a packed value would unpack the value again.
unpacked as materialized (
  select observer, node, probe, entries || ''::bytea as bytes, length(entries) / 4 as n,
    low::int, high::int, skip::int, unto::int
  from spans
  where low <= high and not coalesce(skip <= low and high <= unto, false)
),
counts_by_span as (
  select p.observer, p.node, p.probe, b.bucket, b.count
  from unpacked p
  cross join lateral (
    select get_byte(p.bytes, p.n + at) as bucket,
      sum(get_byte(p.bytes, 2 * p.n + at) * 256 + get_byte(p.bytes, 3 * p.n + at)) as count
    from generate_series(0, p.n - 1) as at
    where get_byte(p.bytes, at) between p.low and p.high
      and (p.skip is null or get_byte(p.bytes, at) not between p.skip and p.unto)
    group by 1) b
),
counts as (
  select observer, node, probe, bucket, sum(count) as count
  from counts_by_span
  group by observer, node, probe, bucket
),
running_counts as (
  select observer, node, probe, bucket,
    sum(count) over (partition by observer, node, probe order by bucket) as so_far,
    sum(count) over (partition by observer, node, probe) as total
  from counts
),
quantile_buckets as (
  select observer, node, probe, max(total)::bigint as probes, min(bucket) filter (where so_far >= ceil(0.5 * total)) as q50,
    min(bucket) filter (where so_far >= ceil(0.95 * total)) as q95, min(bucket) filter (where so_far >= ceil(0.99 * total)) as q99
  from running_counts
  group by observer, node, probe
)
select observer, node, probe, probes, reporting_internal.latency_of_bucket(q50),
  reporting_internal.latency_of_bucket(q95), reporting_internal.latency_of_bucket(q99)
from quantile_buckets
$$;

comment on function reporting.node_latency is 'Response times of each probe in a window, in ms. Each probe uses a new connection. Quantiles differ from the exact quantiles by at most 5 %. Whole hours within the window are counted, or whole days for time more than 3 weeks ago.';
