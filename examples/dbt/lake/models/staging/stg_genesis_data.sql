-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select genesis_hash, genesis_data, extra, recorded_at, superseded_at, run_id
from {{ source('lake', 'genesis_data') }}
qualify row_number() over (partition by genesis_hash, recorded_at order by exported_at desc) = 1
