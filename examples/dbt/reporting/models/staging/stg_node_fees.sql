-- Made by "npm run docs".
select node, tx_fee, create_asset_tx_fee, create_subnet_tx_fee, transform_subnet_tx_fee, create_blockchain_tx_fee, add_primary_network_validator_fee, add_primary_network_delegator_fee, add_subnet_validator_fee, add_subnet_delegator_fee, x_tx_fee, x_create_asset_tx_fee, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'node_fees_history') }}
