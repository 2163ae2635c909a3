-- Made by "npm run docs".
select chain_id, bucket_start, value, extra, version_id, valid_from, valid_to, ended_by, vanished, run_id
from {{ source('reporting', 'average_tps_history') }}
