-- Made by "npm run docs".
select node, height, id, parent_id, time, merkle_root, txs, bytes, extra, recorded_at, run_id
from {{ source('reporting', 'x_blocks') }}
