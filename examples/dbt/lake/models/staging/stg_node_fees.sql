-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as tx_fee_exact, cast(null as varchar) as create_asset_tx_fee_exact, cast(null as varchar) as create_subnet_tx_fee_exact, cast(null as varchar) as transform_subnet_tx_fee_exact, cast(null as varchar) as create_blockchain_tx_fee_exact, cast(null as varchar) as add_primary_network_validator_fee_exact, cast(null as varchar) as add_primary_network_delegator_fee_exact, cast(null as varchar) as add_subnet_validator_fee_exact, cast(null as varchar) as add_subnet_delegator_fee_exact, cast(null as varchar) as x_tx_fee_exact, cast(null as varchar) as x_create_asset_tx_fee_exact) absent, lateral (
select md5('fees ' || length(node) || ':' || node || epoch_us(valid_from) || ',')::uuid as version_id, node, tx_fee, create_asset_tx_fee, create_subnet_tx_fee, transform_subnet_tx_fee, create_blockchain_tx_fee, add_primary_network_validator_fee, add_primary_network_delegator_fee, add_subnet_validator_fee, add_subnet_delegator_fee, x_tx_fee, x_create_asset_tx_fee, extra, valid_from, valid_to, ended_by, run_id, tx_fee_exact, create_asset_tx_fee_exact, create_subnet_tx_fee_exact, transform_subnet_tx_fee_exact, create_blockchain_tx_fee_exact, add_primary_network_validator_fee_exact, add_primary_network_delegator_fee_exact, add_subnet_validator_fee_exact, add_subnet_delegator_fee_exact, x_tx_fee_exact, x_create_asset_tx_fee_exact
from {{ source('lake', 'fees') }}
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1
) versions
