-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as rpc_protocol_version_exact, cast(null as varchar) as network_id_exact) absent, lateral (
select md5('node_identity ' || length(node) || ':' || node || epoch_us(valid_from) || ',')::uuid as version_id, node, node_id, node_pop_public_key, node_pop_proof_of_possession, ip, version, database_version, git_commit, rpc_protocol_version, vm_versions, network_id, network_name, vms, fxs, extra, valid_from, valid_to, ended_by, run_id, rpc_protocol_version_exact, network_id_exact
from {{ source('lake', 'node_identity') }}
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1
) versions
