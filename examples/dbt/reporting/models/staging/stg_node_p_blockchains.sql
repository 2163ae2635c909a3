-- Made by "npm run docs".
select node, blockchain_id, name, subnet_id, vm_id, status, alias, is_bootstrapped, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'node_p_blockchains_history') }}
