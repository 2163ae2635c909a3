create or replace function reporting.metric_over_time(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  chain_id text, -- The chain, such as 43114, or total.
  metric text, -- The metric, such as txCount.
  time_interval text default 'day', -- Interval of the values: hour, day, week or month.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  bucket_start timestamptz, -- Start of the hour, day, week or month.
  value numeric, -- The value of the metric.
  valid_from timestamptz -- Time from which the service reported the value, as far as observed.
)
language sql stable parallel safe as $$
select p.bucket_start, p.value, p.valid_from
from reporting.metric_points_as_of(as_of) p
where p.chain_id = metric_over_time.chain_id and p.metric = metric_over_time.metric
  and p.time_interval = metric_over_time.time_interval and p.bucket_start >= (select reporting_internal.kept_from('metric_points', "from")) and p.bucket_start < "to"
order by p.bucket_start
$$;

comment on function reporting.metric_over_time is 'A metric over time, as the service reported it at a moment.';
