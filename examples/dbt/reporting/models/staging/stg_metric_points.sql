-- Made by "npm run docs".
select chain_id, metric, time_interval, bucket_start, value, extra, recorded_at, superseded_at, vanished, run_id, series_id
from {{ source('reporting', 'metric_points_revisions') }}
