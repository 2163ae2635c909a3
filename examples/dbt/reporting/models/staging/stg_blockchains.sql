-- Made by "npm run docs".
select network, blockchain_id, blockchain_name, subnet_id, vm_id, evm_chain_id, create_block_timestamp, create_block_number, genesis_hash, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'blockchains_history') }}
