-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select network, blockchain_id, block_number, block_hash, parent_hash, block_timestamp, block_type, tx_count, transactions, block_size_bytes, l1_validators_accrued_fees, active_l1_validators, current_supply, proposer_id, proposer_parent_id, proposer_node_id, proposer_p_chain_height, proposer_timestamp, extra, recorded_at, superseded_at, run_id
from {{ source('lake', 'proposed_blocks') }}
qualify row_number() over (partition by network, blockchain_id, block_hash, recorded_at order by exported_at desc) = 1
