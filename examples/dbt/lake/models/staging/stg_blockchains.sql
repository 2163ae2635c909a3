-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as evm_chain_id_exact, cast(null as varchar) as create_block_number_exact) absent, lateral (
select md5('blockchains ' || length(network) || ':' || network || length(blockchain_id) || ':' || blockchain_id || epoch_us(valid_from) || ',')::uuid as version_id, network, blockchain_id, blockchain_name, subnet_id, vm_id, evm_chain_id, create_block_timestamp, create_block_number, genesis_hash, extra, valid_from, valid_to, ended_by, run_id, evm_chain_id_exact, create_block_number_exact
from {{ source('lake', 'blockchains') }}
qualify row_number() over (partition by network, blockchain_id, valid_from order by exported_at desc) = 1
) versions
