create or replace function reporting.metric_revisions(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  chain_id text, -- The chain, such as 43114, or total.
  metric text, -- The metric, such as txCount.
  time_interval text default 'day', -- Interval of the values: hour, day, week or month.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  bucket_start timestamptz, -- Start of the hour, day, week or month.
  revision bigint, -- Number of the value, from 1.
  value numeric, -- The value of the metric.
  change numeric, -- Difference from the previous value. Null: the value is the first one.
  valid_from timestamptz, -- Time at which the value was first observed.
  valid_to timestamptz, -- Time at which the service reported another value, or none. Null: the value is current.
  ended_by text -- Reason of the end: changed (another value) or gone (no value). Null: the value is current.
)
language sql stable parallel safe as $$
select r.bucket_start, row_number() over point as revision, r.value, r.value - lag(r.value) over point as change,
  r.valid_from, case when r.valid_to <= as_of then r.valid_to end as valid_to,
  case when r.valid_to <= as_of then case when r.valid_to = lead(r.valid_from) over point then 'changed' else 'gone' end end as ended_by
from reporting.metric_points_history r
where r.chain_id = metric_revisions.chain_id and r.metric = metric_revisions.metric
  and r.time_interval = metric_revisions.time_interval and r.bucket_start >= (select reporting_internal.kept_from('metric_points', "from")) and r.bucket_start < "to"
  and r.valid_from <= as_of and reporting_internal.has_record('metric_points', as_of)
window point as (partition by r.bucket_start order by r.valid_from)
order by r.bucket_start, r.valid_from
$$;

comment on function reporting.metric_revisions is 'Every value that the service reported for the points of a metric, and the differences.';
