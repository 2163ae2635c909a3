-- The files of an export in DuckDB: of each dataset every version, and what was known at a moment. Made by "npm run docs".
--
--   duckdb -init lake.sql
--   select * from node_validators_versions('/var/lake');
--   select * from metric_points_as_of('s3://my-bucket/recorder', timestamptz '2026-11-01');
--
-- Only a query of a dataset reads its files: the macros of a dataset without files cause no error. For S3: "create secret (type s3, …)" first.
-- If several files contain a version, the newest row is valid. docs/how-to/export.md describes the columns.
set TimeZone = 'UTC';

create or replace macro metric_points_versions(lake) as table
select md5('metric_points ' || length(chain_id) || ':' || chain_id || length(metric) || ':' || metric || length(time_interval) || ':' || time_interval || epoch_us(bucket_start) || ',' || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/metric_points/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, metric, time_interval, bucket_start, valid_from order by exported_at desc) = 1;
create or replace macro metric_points_as_of(lake, moment) as table
select * from metric_points_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro average_tps_versions(lake) as table
select md5('average_tps ' || length(chain_id) || ':' || chain_id || epoch_us(bucket_start) || ',' || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/average_tps/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, bucket_start, valid_from order by exported_at desc) = 1;
create or replace macro average_tps_as_of(lake, moment) as table
select * from average_tps_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro staking_transactions_versions(lake) as table
select md5('staking_transactions ' || length(network) || ':' || network || length(tx_hash) || ':' || tx_hash || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/staking_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, tx_hash, valid_from order by exported_at desc) = 1;
create or replace macro staking_transactions_as_of(lake, moment) as table
select * from staking_transactions_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro subnets_versions(lake) as table
select md5('subnets ' || length(network) || ':' || network || length(subnet_id) || ':' || subnet_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/subnets/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, subnet_id, valid_from order by exported_at desc) = 1;
create or replace macro subnets_as_of(lake, moment) as table
select * from subnets_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro blockchains_versions(lake) as table
select md5('blockchains ' || length(network) || ':' || network || length(blockchain_id) || ':' || blockchain_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/blockchains/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, blockchain_id, valid_from order by exported_at desc) = 1;
create or replace macro blockchains_as_of(lake, moment) as table
select * from blockchains_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro genesis_data_versions(lake) as table
select md5('genesis_data ' || length(genesis_hash) || ':' || genesis_hash || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/genesis_data/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by genesis_hash, valid_from order by exported_at desc) = 1;
create or replace macro genesis_data_as_of(lake, moment) as table
select * from genesis_data_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro primary_balances_versions(lake) as table
select md5('primary_balances ' || length(network) || ':' || network || length(blockchain_id) || ':' || blockchain_id || length(addresses) || ':' || addresses || length(balance_group) || ':' || balance_group || length(asset_id) || ':' || asset_id || length(coalesce(shared_with_chain_id, '')) || ':' || coalesce(shared_with_chain_id, '') || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/primary_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, blockchain_id, addresses, balance_group, asset_id, shared_with_chain_id, valid_from order by exported_at desc) = 1;
create or replace macro primary_balances_as_of(lake, moment) as table
select * from primary_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro pending_rewards_versions(lake) as table
select md5('pending_rewards ' || length(network) || ':' || network || length(tx_hash) || ':' || tx_hash || length(reward_type) || ':' || reward_type || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/pending_rewards/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, tx_hash, reward_type, valid_from order by exported_at desc) = 1;
create or replace macro pending_rewards_as_of(lake, moment) as table
select * from pending_rewards_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro pending_reward_progress_versions(lake) as table
select md5('pending_reward_progress ' || length(network) || ':' || network || length(tx_hash) || ':' || tx_hash || length(reward_type) || ':' || reward_type || epoch_us(observed_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/pending_reward_progress/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, tx_hash, reward_type, observed_at order by exported_at desc) = 1;
create or replace macro pending_reward_progress_as_of(lake, moment) as table
select * from pending_reward_progress_versions(lake) where observed_at <= moment;

create or replace macro proposed_blocks_versions(lake) as table
select md5('proposed_blocks ' || length(network) || ':' || network || length(blockchain_id) || ':' || blockchain_id || length(block_hash) || ':' || block_hash || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/proposed_blocks/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, blockchain_id, block_hash, valid_from order by exported_at desc) = 1;
create or replace macro proposed_blocks_as_of(lake, moment) as table
select * from proposed_blocks_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro native_transactions_versions(lake) as table
select md5('native_transactions ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || length(tx_hash) || ':' || tx_hash || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/native_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, tx_hash, valid_from order by exported_at desc) = 1;
create or replace macro native_transactions_as_of(lake, moment) as table
select * from native_transactions_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro erc1155_transfers_versions(lake) as table
select md5('erc1155_transfers ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || length(tx_hash) || ':' || tx_hash || log_index || ',' || token_id || ',' || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/erc1155_transfers/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, tx_hash, log_index, token_id, valid_from order by exported_at desc) = 1;
create or replace macro erc1155_transfers_as_of(lake, moment) as table
select * from erc1155_transfers_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro native_balances_versions(lake) as table
select md5('native_balances ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/native_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, valid_from order by exported_at desc) = 1;
create or replace macro native_balances_as_of(lake, moment) as table
select * from native_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro native_balance_values_versions(lake) as table
select md5('native_balance_values ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || epoch_us(observed_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/native_balance_values/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, observed_at order by exported_at desc) = 1;
create or replace macro native_balance_values_as_of(lake, moment) as table
select * from native_balance_values_versions(lake) where observed_at <= moment;

create or replace macro erc1155_balances_versions(lake) as table
select md5('erc1155_balances ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || length(contract) || ':' || contract || token_id || ',' || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/erc1155_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, contract, token_id, valid_from order by exported_at desc) = 1;
create or replace macro erc1155_balances_as_of(lake, moment) as table
select * from erc1155_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro deployed_contracts_versions(lake) as table
select md5('deployed_contracts ' || length(chain_id) || ':' || chain_id || length(deployer) || ':' || deployer || length(address) || ':' || address || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/deployed_contracts/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, deployer, address, valid_from order by exported_at desc) = 1;
create or replace macro deployed_contracts_as_of(lake, moment) as table
select * from deployed_contracts_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro deployment_transactions_versions(lake) as table
select md5('deployment_transactions ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/deployment_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, valid_from order by exported_at desc) = 1;
create or replace macro deployment_transactions_as_of(lake, moment) as table
select * from deployment_transactions_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro evm_transactions_versions(lake) as table
select md5('evm_transactions ' || length(chain_id) || ':' || chain_id || length(tx_hash) || ':' || tx_hash || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/evm_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, tx_hash, valid_from order by exported_at desc) = 1;
create or replace macro evm_transactions_as_of(lake, moment) as table
select * from evm_transactions_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro nft_tokens_versions(lake) as table
select md5('nft_tokens ' || length(chain_id) || ':' || chain_id || length(collection) || ':' || collection || token_id || ',' || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/nft_tokens/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, collection, token_id, valid_from order by exported_at desc) = 1;
create or replace macro nft_tokens_as_of(lake, moment) as table
select * from nft_tokens_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro aggregated_signatures_versions(lake) as table
select md5('aggregated_signatures ' || length(network) || ':' || network || length(request) || ':' || request || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/aggregated_signatures/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, request, valid_from order by exported_at desc) = 1;
create or replace macro aggregated_signatures_as_of(lake, moment) as table
select * from aggregated_signatures_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_validators_versions(lake) as table
select md5('validators ' || length(node) || ':' || node || length(subnet_id) || ':' || subnet_id || length(node_id) || ':' || node_id || epoch_us(start_time) || ',' || length(coalesce(tx_id, '')) || ':' || coalesce(tx_id, '') || length(coalesce(validation_id, '')) || ':' || coalesce(validation_id, '') || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/validators/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, node_id, start_time, tx_id, validation_id, valid_from order by exported_at desc) = 1;
create or replace macro node_validators_as_of(lake, moment) as table
select * from node_validators_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro validator_uptime_versions(lake) as table
select md5('validator_uptime ' || length(node) || ':' || node || length(subnet_id) || ':' || subnet_id || length(node_id) || ':' || node_id || epoch_us(observed_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/validator_uptime/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, node_id, observed_at order by exported_at desc) = 1;
create or replace macro validator_uptime_as_of(lake, moment) as table
select * from validator_uptime_versions(lake) where observed_at <= moment;

create or replace macro node_validator_delegators_versions(lake) as table
select md5('validator_delegators ' || length(node) || ':' || node || length(subnet_id) || ':' || subnet_id || length(node_id) || ':' || node_id || epoch_us(start_time) || ',' || length(tx_id) || ':' || tx_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/validator_delegators/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, node_id, start_time, tx_id, valid_from order by exported_at desc) = 1;
create or replace macro node_validator_delegators_as_of(lake, moment) as table
select * from node_validator_delegators_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_p_blocks_versions(lake) as table
select md5('p_blocks ' || length(node) || ':' || node || height || ',' || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/p_blocks/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, height, valid_from order by exported_at desc) = 1;
create or replace macro node_p_blocks_as_of(lake, moment) as table
select * from node_p_blocks_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_x_blocks_versions(lake) as table
select md5('x_blocks ' || length(node) || ':' || node || height || ',' || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/x_blocks/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, height, valid_from order by exported_at desc) = 1;
create or replace macro node_x_blocks_as_of(lake, moment) as table
select * from node_x_blocks_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_x_transactions_versions(lake) as table
select md5('x_transactions ' || length(node) || ':' || node || length(tx_id) || ':' || tx_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/x_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, tx_id, valid_from order by exported_at desc) = 1;
create or replace macro node_x_transactions_as_of(lake, moment) as table
select * from node_x_transactions_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro x_assets_versions(lake) as table
select md5('x_assets ' || length(node) || ':' || node || length(asset_id) || ':' || asset_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/x_assets/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, asset_id, valid_from order by exported_at desc) = 1;
create or replace macro x_assets_as_of(lake, moment) as table
select * from x_assets_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro x_utxos_versions(lake) as table
select md5('x_utxos ' || length(node) || ':' || node || length(address) || ':' || address || length(utxo_id) || ':' || utxo_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/x_utxos/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, address, utxo_id, valid_from order by exported_at desc) = 1;
create or replace macro x_utxos_as_of(lake, moment) as table
select * from x_utxos_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro x_balances_versions(lake) as table
select md5('x_balances ' || length(node) || ':' || node || length(address) || ':' || address || length(asset_id) || ':' || asset_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/x_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, address, asset_id, valid_from order by exported_at desc) = 1;
create or replace macro x_balances_as_of(lake, moment) as table
select * from x_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro p_balances_versions(lake) as table
select md5('p_balances ' || length(node) || ':' || node || length(address) || ':' || address || length(asset_id) || ':' || asset_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/p_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, address, asset_id, valid_from order by exported_at desc) = 1;
create or replace macro p_balances_as_of(lake, moment) as table
select * from p_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_p_blockchains_versions(lake) as table
select md5('p_blockchains ' || length(node) || ':' || node || length(blockchain_id) || ':' || blockchain_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/p_blockchains/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, blockchain_id, valid_from order by exported_at desc) = 1;
create or replace macro node_p_blockchains_as_of(lake, moment) as table
select * from node_p_blockchains_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro chain_heights_versions(lake) as table
select md5('chain_heights ' || length(node) || ':' || node || length(chain) || ':' || chain || epoch_us(observed_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/chain_heights/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, chain, observed_at order by exported_at desc) = 1;
create or replace macro chain_heights_as_of(lake, moment) as table
select * from chain_heights_versions(lake) where observed_at <= moment;

create or replace macro node_current_supply_versions(lake) as table
select md5('current_supply ' || length(node) || ':' || node || length(subnet_id) || ':' || subnet_id || epoch_us(observed_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/current_supply/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, observed_at order by exported_at desc) = 1;
create or replace macro node_current_supply_as_of(lake, moment) as table
select * from node_current_supply_versions(lake) where observed_at <= moment;

create or replace macro node_identity_versions(lake) as table
select md5('node_identity ' || length(node) || ':' || node || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/node_identity/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1;
create or replace macro node_identity_as_of(lake, moment) as table
select * from node_identity_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_fees_versions(lake) as table
select md5('fees ' || length(node) || ':' || node || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/fees/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1;
create or replace macro node_fees_as_of(lake, moment) as table
select * from node_fees_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_upgrades_versions(lake) as table
select md5('upgrades ' || length(node) || ':' || node || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/upgrades/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1;
create or replace macro node_upgrades_as_of(lake, moment) as table
select * from node_upgrades_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_proposals_versions(lake) as table
select md5('proposals ' || length(node) || ':' || node || proposal || ',' || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/proposals/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, proposal, valid_from order by exported_at desc) = 1;
create or replace macro node_proposals_as_of(lake, moment) as table
select * from node_proposals_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro peers_versions(lake) as table
select md5('peers ' || length(node) || ':' || node || length(node_id) || ':' || node_id || epoch_us(valid_from) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/peers/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, node_id, valid_from order by exported_at desc) = 1;
create or replace macro peers_as_of(lake, moment) as table
select * from peers_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro peer_readings_versions(lake) as table
select md5('peer_readings ' || length(node) || ':' || node || length(node_id) || ':' || node_id || length(subnet_id) || ':' || subnet_id || epoch_us(observed_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/peer_readings/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, node_id, subnet_id, observed_at order by exported_at desc) = 1;
create or replace macro peer_readings_as_of(lake, moment) as table
select * from peer_readings_versions(lake) where observed_at <= moment;

create or replace macro node_reported_uptime_versions(lake) as table
select md5('node_reported_uptime ' || length(node) || ':' || node || length(subnet_id) || ':' || subnet_id || epoch_us(observed_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/node_reported_uptime/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, observed_at order by exported_at desc) = 1;
create or replace macro node_reported_uptime_as_of(lake, moment) as table
select * from node_reported_uptime_versions(lake) where observed_at <= moment;

create or replace macro node_health_versions(lake) as table
select md5('node_health ' || length(observer) || ':' || observer || length(node) || ':' || node || length(probe) || ':' || probe || length(check_name) || ':' || check_name || epoch_us(started_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/node_health/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by observer, node, probe, check_name, started_at order by exported_at desc) = 1;
create or replace macro node_health_as_of(lake, moment) as table
select * from node_health_versions(lake) where started_at <= moment and (ended_at is null or ended_at > moment);

create or replace macro health_absences_versions(lake) as table
select md5('health_absences ' || length(observer) || ':' || observer || epoch_us(started_at) || ',')::uuid as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/health_absences/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by observer, started_at order by exported_at desc) = 1;
create or replace macro health_absences_as_of(lake, moment) as table
select * from health_absences_versions(lake) where started_at <= moment and (ended_at is null or ended_at > moment);
