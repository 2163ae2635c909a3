create or replace function reporting.metric_over_time(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  chain_id text, -- The chain, such as 43114, or total.
  metric text, -- The metric, such as txCount.
  time_interval text default 'day', -- hour, day, week or month.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  bucket_start timestamptz, -- Start of the hour, day, week or month.
  value numeric, -- The value.
  recorded_at timestamptz -- Since when the service said so, as far as it was asked.
)
language sql stable parallel safe as $$
select p.bucket_start, p.value, p.recorded_at
from reporting.metric_points_as_of(as_of) p
where p.chain_id = metric_over_time.chain_id and p.metric = metric_over_time.metric
  and p.time_interval = metric_over_time.time_interval and p.bucket_start >= (select reporting_internal.kept_from('metric_points', "from")) and p.bucket_start < "to"
order by p.bucket_start
$$;

comment on function reporting.metric_over_time is 'A metric over time, as the service said it at a moment.';
