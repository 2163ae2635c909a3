-- Made by "npm run docs".
select chain_id, bucket_start, value, extra, recorded_at, superseded_at, vanished, run_id
from {{ source('reporting', 'average_tps_history') }}
