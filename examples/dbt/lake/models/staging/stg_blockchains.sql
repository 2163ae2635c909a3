-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select network, blockchain_id, blockchain_name, subnet_id, vm_id, evm_chain_id, create_block_timestamp, create_block_number, genesis_hash, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'blockchains') }}
qualify row_number() over (partition by blockchain_id, valid_from order by exported_at desc) = 1
