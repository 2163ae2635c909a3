-- Made by "npm run docs".
select chain_id, metric, time_interval, bucket_start, value, extra, version_id, valid_from, series_id, valid_to, ended_by, vanished, run_id
from {{ source('reporting', 'metric_points_history') }}
