-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select chain_id, metric, time_interval, bucket_start, value, extra, recorded_at, superseded_at, vanished, run_id
from {{ source('lake', 'metric_points') }}
qualify row_number() over (partition by chain_id, metric, time_interval, bucket_start, recorded_at order by exported_at desc) = 1
