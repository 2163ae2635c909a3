-- The files of an export in DuckDB: of each dataset every version, and what was known at a moment. Made by "npm run docs".
--
--   duckdb -init lake.sql
--   select * from validators_versions('/var/lake');
--   select * from metric_points_as_of('s3://my-bucket/recorder', timestamptz '2026-11-01');
--
-- Nothing is read before it is asked for: a dataset without files costs nothing. For S3: "create secret (type s3, …)" first.
-- Of a version that stands in several files the newest row counts; docs/how-to/export.md says what the columns are.
set TimeZone = 'UTC';

create or replace macro metric_points_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/metric_points/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, metric, time_interval, bucket_start, recorded_at order by exported_at desc) = 1;
create or replace macro metric_points_as_of(lake, moment) as table
select * from metric_points_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro average_tps_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/average_tps/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, bucket_start, recorded_at order by exported_at desc) = 1;
create or replace macro average_tps_as_of(lake, moment) as table
select * from average_tps_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro staking_transactions_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/staking_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, tx_hash, recorded_at order by exported_at desc) = 1;
create or replace macro staking_transactions_as_of(lake, moment) as table
select * from staking_transactions_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro subnets_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/subnets/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by subnet_id, valid_from order by exported_at desc) = 1;
create or replace macro subnets_as_of(lake, moment) as table
select * from subnets_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro blockchains_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/blockchains/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by blockchain_id, valid_from order by exported_at desc) = 1;
create or replace macro blockchains_as_of(lake, moment) as table
select * from blockchains_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro genesis_data_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/genesis_data/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by genesis_hash, recorded_at order by exported_at desc) = 1;
create or replace macro genesis_data_as_of(lake, moment) as table
select * from genesis_data_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro primary_balances_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/primary_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, blockchain_id, addresses, balance_group, asset_id, shared_with_chain_id, valid_from order by exported_at desc) = 1;
create or replace macro primary_balances_as_of(lake, moment) as table
select * from primary_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro pending_rewards_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/pending_rewards/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, tx_hash, reward_type, valid_from order by exported_at desc) = 1;
create or replace macro pending_rewards_as_of(lake, moment) as table
select * from pending_rewards_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro pending_reward_progress_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/pending_reward_progress/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, tx_hash, reward_type, observed_at order by exported_at desc) = 1;
create or replace macro pending_reward_progress_as_of(lake, moment) as table
select * from pending_reward_progress_versions(lake) where observed_at <= moment;

create or replace macro proposed_blocks_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/proposed_blocks/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, blockchain_id, block_hash, recorded_at order by exported_at desc) = 1;
create or replace macro proposed_blocks_as_of(lake, moment) as table
select * from proposed_blocks_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro native_transactions_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/native_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, tx_hash, recorded_at order by exported_at desc) = 1;
create or replace macro native_transactions_as_of(lake, moment) as table
select * from native_transactions_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro erc1155_transfers_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/erc1155_transfers/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, tx_hash, log_index, token_id, recorded_at order by exported_at desc) = 1;
create or replace macro erc1155_transfers_as_of(lake, moment) as table
select * from erc1155_transfers_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro native_balances_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/native_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, valid_from order by exported_at desc) = 1;
create or replace macro native_balances_as_of(lake, moment) as table
select * from native_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro native_balance_values_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/native_balance_values/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, observed_at order by exported_at desc) = 1;
create or replace macro native_balance_values_as_of(lake, moment) as table
select * from native_balance_values_versions(lake) where observed_at <= moment;

create or replace macro erc1155_balances_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/erc1155_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, contract, token_id, valid_from order by exported_at desc) = 1;
create or replace macro erc1155_balances_as_of(lake, moment) as table
select * from erc1155_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro deployed_contracts_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/deployed_contracts/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, deployer, address, valid_from order by exported_at desc) = 1;
create or replace macro deployed_contracts_as_of(lake, moment) as table
select * from deployed_contracts_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro deployment_transactions_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/deployment_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, address, recorded_at order by exported_at desc) = 1;
create or replace macro deployment_transactions_as_of(lake, moment) as table
select * from deployment_transactions_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro evm_transactions_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/evm_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, tx_hash, recorded_at order by exported_at desc) = 1;
create or replace macro evm_transactions_as_of(lake, moment) as table
select * from evm_transactions_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro nft_tokens_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/nft_tokens/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by chain_id, collection, token_id, valid_from order by exported_at desc) = 1;
create or replace macro nft_tokens_as_of(lake, moment) as table
select * from nft_tokens_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro aggregated_signatures_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/aggregated_signatures/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by network, request, recorded_at order by exported_at desc) = 1;
create or replace macro aggregated_signatures_as_of(lake, moment) as table
select * from aggregated_signatures_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro validators_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/validators/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, node_id, start_time, tx_id, validation_id, valid_from order by exported_at desc) = 1;
create or replace macro validators_as_of(lake, moment) as table
select * from validators_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro validator_uptime_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/validator_uptime/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, node_id, observed_at order by exported_at desc) = 1;
create or replace macro validator_uptime_as_of(lake, moment) as table
select * from validator_uptime_versions(lake) where observed_at <= moment;

create or replace macro validator_delegators_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/validator_delegators/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, node_id, start_time, tx_id, valid_from order by exported_at desc) = 1;
create or replace macro validator_delegators_as_of(lake, moment) as table
select * from validator_delegators_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro p_blocks_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/p_blocks/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, height, recorded_at order by exported_at desc) = 1;
create or replace macro p_blocks_as_of(lake, moment) as table
select * from p_blocks_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro x_blocks_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/x_blocks/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, height, recorded_at order by exported_at desc) = 1;
create or replace macro x_blocks_as_of(lake, moment) as table
select * from x_blocks_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro x_transactions_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/x_transactions/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, tx_id, recorded_at order by exported_at desc) = 1;
create or replace macro x_transactions_as_of(lake, moment) as table
select * from x_transactions_versions(lake) where recorded_at <= moment and (superseded_at is null or superseded_at > moment);

create or replace macro x_assets_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/x_assets/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, asset_id, valid_from order by exported_at desc) = 1;
create or replace macro x_assets_as_of(lake, moment) as table
select * from x_assets_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro x_utxos_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/x_utxos/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, address, utxo_id, valid_from order by exported_at desc) = 1;
create or replace macro x_utxos_as_of(lake, moment) as table
select * from x_utxos_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro x_balances_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/x_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, address, asset_id, valid_from order by exported_at desc) = 1;
create or replace macro x_balances_as_of(lake, moment) as table
select * from x_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro p_balances_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/p_balances/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, address, asset_id, valid_from order by exported_at desc) = 1;
create or replace macro p_balances_as_of(lake, moment) as table
select * from p_balances_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro node_blockchains_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/node_blockchains/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, blockchain_id, valid_from order by exported_at desc) = 1;
create or replace macro node_blockchains_as_of(lake, moment) as table
select * from node_blockchains_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro chain_heights_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/chain_heights/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, chain, observed_at order by exported_at desc) = 1;
create or replace macro chain_heights_as_of(lake, moment) as table
select * from chain_heights_versions(lake) where observed_at <= moment;

create or replace macro current_supply_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/current_supply/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, observed_at order by exported_at desc) = 1;
create or replace macro current_supply_as_of(lake, moment) as table
select * from current_supply_versions(lake) where observed_at <= moment;

create or replace macro node_identity_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/node_identity/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1;
create or replace macro node_identity_as_of(lake, moment) as table
select * from node_identity_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro fees_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/fees/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1;
create or replace macro fees_as_of(lake, moment) as table
select * from fees_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro upgrades_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/upgrades/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1;
create or replace macro upgrades_as_of(lake, moment) as table
select * from upgrades_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro proposals_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/proposals/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, proposal, valid_from order by exported_at desc) = 1;
create or replace macro proposals_as_of(lake, moment) as table
select * from proposals_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro peers_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/peers/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, node_id, valid_from order by exported_at desc) = 1;
create or replace macro peers_as_of(lake, moment) as table
select * from peers_versions(lake) where valid_from <= moment and (valid_to is null or valid_to > moment);

create or replace macro peer_readings_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/peer_readings/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, node_id, subnet_id, observed_at order by exported_at desc) = 1;
create or replace macro peer_readings_as_of(lake, moment) as table
select * from peer_readings_versions(lake) where observed_at <= moment;

create or replace macro node_reported_uptime_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/node_reported_uptime/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by node, subnet_id, observed_at order by exported_at desc) = 1;
create or replace macro node_reported_uptime_as_of(lake, moment) as table
select * from node_reported_uptime_versions(lake) where observed_at <= moment;

create or replace macro node_health_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/node_health/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by observer, node, probe, check_name, started_at order by exported_at desc) = 1;
create or replace macro node_health_as_of(lake, moment) as table
select * from node_health_versions(lake) where started_at <= moment and (ended_at is null or ended_at > moment);

create or replace macro health_absences_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/health_absences/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by observer, started_at order by exported_at desc) = 1;
create or replace macro health_absences_as_of(lake, moment) as table
select * from health_absences_versions(lake) where started_at <= moment and (ended_at is null or ended_at > moment);
