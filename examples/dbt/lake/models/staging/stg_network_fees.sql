-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, tx_fee, create_asset_tx_fee, create_subnet_tx_fee, transform_subnet_tx_fee, create_blockchain_tx_fee, add_primary_network_validator_fee, add_primary_network_delegator_fee, add_subnet_validator_fee, add_subnet_delegator_fee, x_tx_fee, x_create_asset_tx_fee, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'network_fees') }}
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1
