-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, height, id, parent_id, time, merkle_root, txs, bytes, extra, recorded_at, superseded_at, run_id
from {{ source('lake', 'x_blocks') }}
qualify row_number() over (partition by node, height, recorded_at order by exported_at desc) = 1
