-- Made by "npm run docs".
select node, node_id, node_pop_public_key, node_pop_proof_of_possession, ip, version, database_version, git_commit, rpc_protocol_version, vm_versions, network_id, network_name, vms, fxs, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'node_identity_history') }}
