{{ config(materialized='incremental', unique_key='version_id') }}
-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as block_number_exact, cast(null as varchar) as l1_validators_accrued_fees_exact, cast(null as varchar) as current_supply_exact, cast(null as varchar) as proposer_p_chain_height_exact) absent, lateral (
select md5('proposed_blocks ' || length(network) || ':' || network || length(blockchain_id) || ':' || blockchain_id || length(block_hash) || ':' || block_hash || epoch_us(valid_from) || ',')::uuid as version_id, network, blockchain_id, block_number, block_hash, parent_hash, block_timestamp, block_type, tx_count, transactions, block_size_bytes, l1_validators_accrued_fees, active_l1_validators, current_supply, proposer_id, proposer_parent_id, proposer_node_id, proposer_p_chain_height, proposer_timestamp, extra, valid_from, valid_to, run_id, block_number_exact, l1_validators_accrued_fees_exact, current_supply_exact, proposer_p_chain_height_exact, exported_at
from {{ source('lake', 'proposed_blocks') }}
{% if is_incremental() %}
where exported_at > (select max(exported_at) from {{ this }}) or not exists (select 1 from {{ this }})
{% endif %}
qualify row_number() over (partition by network, blockchain_id, block_hash, valid_from order by exported_at desc) = 1
) versions
