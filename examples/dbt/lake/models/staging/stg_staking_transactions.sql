-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as block_number_exact, cast(null as varchar) as delegation_fee_percent_exact, cast(null as varchar) as estimated_reward_exact, cast(null as varchar) as subnet_ownership_info_locktime_raw_exact, cast(null as varchar) as subnet_ownership_info_threshold_exact) absent, lateral (
select md5('staking_transactions ' || length(network) || ':' || network || length(tx_hash) || ':' || tx_hash || epoch_us(valid_from) || ',')::uuid as version_id, network, tx_hash, tx_type, block_timestamp, block_number, block_hash, node_id, subnet_id, start_timestamp, end_timestamp, delegation_fee_percent, estimated_reward, reward_tx_hash, reward_addresses, staking_tx_hash, source_chain, destination_chain, value, amount_staked, amount_burned, amount_l1_validator_balance_burned, consumed_utxos, emitted_utxos, l1_validator_details, l1_validator_manager_details_blockchain_id, l1_validator_manager_details_contract_address, subnet_ownership_info_locktime, subnet_ownership_info_locktime_raw, subnet_ownership_info_threshold, subnet_ownership_info_addresses, bls_credentials_public_key, bls_credentials_proof_of_possession, blockchain_info_chain_name, blockchain_info_vm_id, genesis_hash, memo, extra, valid_from, valid_to, run_id, block_number_exact, delegation_fee_percent_exact, estimated_reward_exact, subnet_ownership_info_locktime_raw_exact, subnet_ownership_info_threshold_exact
from {{ source('lake', 'staking_transactions') }}
qualify row_number() over (partition by network, tx_hash, valid_from order by exported_at desc) = 1
) versions
