-- Made by "npm run docs".
select node, height, id, parent_id, time, txs, tx, bytes, extra, version_id, valid_from, run_id, valid_to, ended_by, differs
from {{ source('reporting', 'node_p_blocks_history') }}
