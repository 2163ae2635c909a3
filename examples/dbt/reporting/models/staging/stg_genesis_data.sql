-- Made by "npm run docs".
select genesis_hash, genesis_data, extra, recorded_at, run_id
from {{ source('reporting', 'genesis_data') }}
