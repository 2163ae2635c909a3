create or replace function reporting.node_latency_over_time(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz, -- End of the window, exclusive.
  by text default 'hour', -- hour or day (UTC). Time more than 3 weeks ago is returned by day.
  node text default null -- Returns only this node.
)
returns table (
  begins timestamptz, -- Start of the hour or day.
  observer text, -- The observer: the name of its recorder.
  node text, -- The configured node.
  probe text, -- The probe.
  probes bigint, -- Number of counted probes.
  p50 numeric, -- The median, in ms.
  p95 numeric, -- 95th percentile of the response times, in ms.
  p99 numeric -- 99th percentile of the response times, in ms.
)
language sql stable parallel safe as $$
with weeks as (
  select l.observer, l.starts_at, max(l.starts_at) over (partition by l.observer) as newest
  from reporting_internal.node_latency_spans l where l.span = 'week' and by = 'hour'
),
-- Storing an hour deletes the old hours of its probe. A week with a late hour is kept until the next hour is stored.
hours_since as materialized (
  select w.observer, min(w.starts_at) as at from weeks w where w.starts_at >= w.newest - interval '504 hours' group by w.observer
),
-- The slots of each span: the first slot starts with the span, and the next slots follow in steps.
spans as (
  select l.observer, l.node, l.probe, l.entries, l.starts_at, interval '1 hour' as step, 'infinity'::timestamptz as until
  from reporting_internal.node_latency_spans l join hours_since h using (observer)
  where l.span = 'week' and l.starts_at >= h.at and l.starts_at > "from" - interval '168 hours' and l.starts_at < "to"
  union all
  select l.observer, l.node, l.probe, l.entries, l.starts_at - interval '24 hours', interval '24 hours', coalesce(h.at, 'infinity')
  from reporting_internal.node_latency_spans l left join hours_since h using (observer)
  where l.span = 'month' and l.starts_at > "from" - interval '744 hours' and l.starts_at < "to"
    and case when by in ('hour', 'day') then true
      else reporting_internal.refused('by: must be hour or day, not ' || by) is null end
  union all
  select p.observer, p.node, p.probe, p.entries, date_trunc(by, p.hour, 'UTC'), interval '0', 'infinity'
  from reporting_internal.node_probes p
  where p.hour >= "from" and p.hour < "to" and by in ('hour', 'day')
),
-- Unpacked once, because each access to a byte of a packed value would unpack the value again.
unpacked as materialized (
  select s.observer, s.node, s.probe, s.entries || ''::bytea as bytes, length(s.entries) / 4 as n, s.starts_at, s.step, s.until
  from spans s
  where node_latency_over_time.node is null or s.node = node_latency_over_time.node
),
counts as (
  select u.observer, u.node, u.probe, b.begins, b.bucket, sum(b.count) as count
  from unpacked u
  cross join lateral (
    select u.starts_at + u.step * get_byte(u.bytes, at) as begins, get_byte(u.bytes, u.n + at) as bucket,
      get_byte(u.bytes, 2 * u.n + at) * 256 + get_byte(u.bytes, 3 * u.n + at) as count
    from generate_series(0, u.n - 1) as at) b
  where b.begins >= "from" and b.begins < least("to", u.until)
  group by 1, 2, 3, 4, 5
),
running_counts as (
  select c.*, sum(c.count) over (part order by c.bucket) as so_far, sum(c.count) over part as total
  from counts c
  window part as (partition by c.observer, c.node, c.probe, c.begins)
),
quantile_buckets as (
  select r.observer, r.node, r.probe, r.begins, max(r.total)::bigint as probes, min(r.bucket) filter (where r.so_far >= ceil(0.5 * r.total)) as q50,
    min(r.bucket) filter (where r.so_far >= ceil(0.95 * r.total)) as q95, min(r.bucket) filter (where r.so_far >= ceil(0.99 * r.total)) as q99
  from running_counts r
  group by r.observer, r.node, r.probe, r.begins
)
select q.begins, q.observer, q.node, q.probe, q.probes, reporting_internal.latency_of_bucket(q.q50),
  reporting_internal.latency_of_bucket(q.q95), reporting_internal.latency_of_bucket(q.q99)
from quantile_buckets q
order by 1, 2, 3, 4
$$;

comment on function reporting.node_latency_over_time is 'Response times of each probe by hour or day, in ms. Quantiles differ from the exact quantiles by at most 5 %. See reporting.node_latency.';
