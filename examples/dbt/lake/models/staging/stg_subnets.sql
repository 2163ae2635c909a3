-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as create_block_index_exact, cast(null as varchar) as subnet_ownership_info_locktime_raw_exact, cast(null as varchar) as subnet_ownership_info_threshold_exact, cast(null as varchar) as threshold_exact, cast(null as varchar) as locktime_raw_exact) absent, lateral (
select md5('subnets ' || length(network) || ':' || network || length(subnet_id) || ':' || subnet_id || epoch_us(valid_from) || ',')::uuid as version_id, network, subnet_id, create_block_timestamp, create_block_index, is_l1, subnet_ownership_info_locktime, subnet_ownership_info_locktime_raw, subnet_ownership_info_threshold, subnet_ownership_info_addresses, l1_conversion_transaction_hash, l1_validator_manager_details_blockchain_id, l1_validator_manager_details_contract_address, owner_addresses, threshold, locktime, locktime_raw, extra, valid_from, valid_to, ended_by, run_id, create_block_index_exact, subnet_ownership_info_locktime_raw_exact, subnet_ownership_info_threshold_exact, threshold_exact, locktime_raw_exact
from {{ source('lake', 'subnets') }}
qualify row_number() over (partition by network, subnet_id, valid_from order by exported_at desc) = 1
) versions
