create or replace function reporting.metric_revisions(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  chain_id text, -- The chain, such as 43114, or total.
  metric text, -- The metric, such as txCount.
  time_interval text default 'day', -- hour, day, week or month.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  bucket_start timestamptz, -- Start of the hour, day, week or month.
  revision bigint, -- Which value it is, from 1.
  value numeric, -- The value.
  change numeric, -- The difference to the value before; null: it is the first.
  recorded_at timestamptz, -- When the service was first seen to say so.
  superseded_at timestamptz, -- When it said something else, or nothing; null: it still says so.
  then_gone boolean -- It then said nothing at all about this point.
)
language sql stable parallel safe as $$
select r.bucket_start, row_number() over point as revision, r.value, r.value - lag(r.value) over point as change,
  r.recorded_at, case when r.superseded_at <= as_of then r.superseded_at end as superseded_at,
  coalesce(r.superseded_at <= as_of and r.superseded_at is distinct from lead(r.recorded_at) over point, false) as then_gone
from reporting.metric_points_history r
where r.chain_id = metric_revisions.chain_id and r.metric = metric_revisions.metric
  and r.time_interval = metric_revisions.time_interval and r.bucket_start >= (select reporting_internal.kept_from('metric_points', "from")) and r.bucket_start < "to"
  and r.recorded_at <= as_of and reporting_internal.has_record('metric_points', as_of)
window point as (partition by r.bucket_start order by r.recorded_at)
order by r.bucket_start, r.recorded_at
$$;

comment on function reporting.metric_revisions is 'Every value that the service ever gave for the points of a metric, and by how much it moved.';
