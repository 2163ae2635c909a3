-- Made by "npm run docs".
select network, subnet_id, create_block_timestamp, create_block_index, is_l1, subnet_ownership_info_locktime, subnet_ownership_info_locktime_raw, subnet_ownership_info_threshold, subnet_ownership_info_addresses, l1_conversion_transaction_hash, l1_validator_manager_details_blockchain_id, l1_validator_manager_details_contract_address, owner_addresses, threshold, locktime, locktime_raw, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'subnets_history') }}
