-- Made by "npm run docs".
select chain_id, metric, time_interval, bucket_start, value, extra, recorded_at, series_id, superseded_at, vanished, run_id
from {{ source('reporting', 'metric_points_history') }}
