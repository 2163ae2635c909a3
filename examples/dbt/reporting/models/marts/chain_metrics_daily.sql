-- The newest value of each metric, a row a chain and day; what was known earlier is in stg_metric_points.
select chain_id, metric, cast(bucket_start as date) as day, value, recorded_at
from {{ ref('stg_metric_points') }}
where time_interval = 'day' and superseded_at is null
