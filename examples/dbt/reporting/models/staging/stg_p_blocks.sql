-- Made by "npm run docs".
select node, height, id, parent_id, time, txs, tx, bytes, extra, recorded_at, run_id
from {{ source('reporting', 'p_blocks') }}
