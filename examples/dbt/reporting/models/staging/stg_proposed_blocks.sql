-- Made by "npm run docs".
select network, blockchain_id, block_number, block_hash, parent_hash, block_timestamp, block_type, tx_count, transactions, block_size_bytes, l1_validators_accrued_fees, active_l1_validators, current_supply, proposer_id, proposer_parent_id, proposer_node_id, proposer_p_chain_height, proposer_timestamp, extra, version_id, valid_from, run_id, valid_to, ended_by, differs
from {{ source('reporting', 'proposed_blocks_history') }}
