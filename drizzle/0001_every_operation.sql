CREATE TABLE "recorder"."aggregated_signatures" (
	"network" text NOT NULL,
	"request" text NOT NULL,
	"signed_message" text NOT NULL,
	"tx_hash" text,
	"message" text,
	"justification" text,
	"signing_subnet_id" text,
	"quorum_percentage" bigint,
	"quorum_percentage_buffer" bigint,
	"p_chain_height" numeric,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."blockchains" (
	"network" text NOT NULL,
	"blockchain_id" text NOT NULL,
	"blockchain_name" text,
	"subnet_id" text,
	"vm_id" text,
	"evm_chain_id" numeric,
	"create_block_timestamp" timestamp with time zone,
	"create_block_number" numeric,
	"genesis_hash" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."deployed_contracts" (
	"chain_id" text NOT NULL,
	"deployer" text NOT NULL,
	"address" text NOT NULL,
	"erc_type" text,
	"name" text,
	"symbol" text,
	"decimals" bigint,
	"description" text,
	"official_site" text,
	"email" text,
	"logo_asset_asset_id" text,
	"logo_asset_image_uri" text,
	"banner_asset_asset_id" text,
	"banner_asset_image_uri" text,
	"color" text,
	"resource_links" jsonb,
	"tags" jsonb,
	"deployment_details_tx_hash" text,
	"deployment_details_deployer_address" text,
	"deployment_details_deployer_contract_address" text,
	"pricing_providers_coingecko_coin_id" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."deployment_transactions" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"tx_hash" text NOT NULL,
	"tx_status" text,
	"tx_type" bigint,
	"block_number" numeric NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_timestamp_milliseconds" timestamp with time zone,
	"block_min_delay_excess" numeric,
	"block_hash" text,
	"block_index" bigint,
	"from_address" text,
	"from_name" text,
	"from_symbol" text,
	"from_decimals" bigint,
	"from_logo_uri" text,
	"to_address" text,
	"to_name" text,
	"to_symbol" text,
	"to_decimals" bigint,
	"to_logo_uri" text,
	"method_call_type" text,
	"method_hash" text,
	"method_name" text,
	"value" numeric,
	"gas_limit" numeric,
	"gas_used" numeric,
	"gas_price" numeric,
	"nonce" numeric,
	"input" text,
	"base_fee_per_gas" numeric,
	"max_fee_per_gas" numeric,
	"max_priority_fee_per_gas" numeric,
	"erc20_transfers" jsonb,
	"erc721_transfers" jsonb,
	"erc1155_transfers" jsonb,
	"internal_transactions" jsonb,
	"network_token_name" text,
	"network_token_symbol" text,
	"network_token_decimals" numeric,
	"network_token_logo_uri" text,
	"network_token_description" text,
	"network_token_details_current_price_currency_code" text,
	"network_token_details_current_price_value" numeric,
	"network_token_details_historical_price_currency_code" text,
	"network_token_details_historical_price_value" numeric,
	"teleporter_message_id" text,
	"teleporter_message_info_direction" text,
	"teleporter_message_info_source_chain_id" text,
	"teleporter_message_info_destination_chain_id" text,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."erc1155_balances" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"contract" text NOT NULL,
	"erc_type" text,
	"token_id" numeric NOT NULL,
	"token_uri" text,
	"metadata_index_status" text,
	"metadata_last_updated_timestamp" timestamp with time zone,
	"metadata_name" text,
	"metadata_symbol" text,
	"metadata_image_uri" text,
	"metadata_description" text,
	"metadata_animation_uri" text,
	"metadata_external_url" text,
	"metadata_background" text,
	"metadata_attributes" text,
	"metadata_decimals" bigint,
	"metadata_properties" text,
	"balance" numeric NOT NULL,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."erc1155_transfers" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"tx_hash" text NOT NULL,
	"block_number" numeric NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_timestamp_milliseconds" timestamp with time zone,
	"block_hash" text,
	"log_index" bigint NOT NULL,
	"from_address" text,
	"from_name" text,
	"from_symbol" text,
	"from_decimals" bigint,
	"from_logo_uri" text,
	"to_address" text,
	"to_name" text,
	"to_symbol" text,
	"to_decimals" bigint,
	"to_logo_uri" text,
	"value" numeric,
	"erc1155_token_address" text,
	"erc1155_token_erc_type" text,
	"token_id" numeric NOT NULL,
	"erc1155_token_token_uri" text,
	"erc1155_token_metadata_index_status" text,
	"erc1155_token_metadata_last_updated_timestamp" timestamp with time zone,
	"erc1155_token_metadata_name" text,
	"erc1155_token_metadata_symbol" text,
	"erc1155_token_metadata_image_uri" text,
	"erc1155_token_metadata_description" text,
	"erc1155_token_metadata_animation_uri" text,
	"erc1155_token_metadata_external_url" text,
	"erc1155_token_metadata_background" text,
	"erc1155_token_metadata_attributes" text,
	"erc1155_token_metadata_decimals" bigint,
	"erc1155_token_metadata_properties" text,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."evm_transactions" (
	"chain_id" text NOT NULL,
	"tx_hash" text NOT NULL,
	"tx_status" text,
	"tx_type" bigint,
	"block_number" numeric NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_timestamp_milliseconds" timestamp with time zone,
	"block_min_delay_excess" numeric,
	"block_hash" text,
	"block_index" bigint,
	"from_address" text,
	"from_name" text,
	"from_symbol" text,
	"from_decimals" bigint,
	"from_logo_uri" text,
	"to_address" text,
	"to_name" text,
	"to_symbol" text,
	"to_decimals" bigint,
	"to_logo_uri" text,
	"method_call_type" text,
	"method_hash" text,
	"method_name" text,
	"value" numeric,
	"gas_limit" numeric,
	"gas_used" numeric,
	"gas_price" numeric,
	"nonce" numeric,
	"input" text,
	"base_fee_per_gas" numeric,
	"max_fee_per_gas" numeric,
	"max_priority_fee_per_gas" numeric,
	"erc20_transfers" jsonb,
	"erc721_transfers" jsonb,
	"erc1155_transfers" jsonb,
	"internal_transactions" jsonb,
	"network_token_name" text,
	"network_token_symbol" text,
	"network_token_decimals" numeric,
	"network_token_logo_uri" text,
	"network_token_description" text,
	"network_token_details_current_price_currency_code" text,
	"network_token_details_current_price_value" numeric,
	"network_token_details_historical_price_currency_code" text,
	"network_token_details_historical_price_value" numeric,
	"teleporter_message_id" text,
	"teleporter_message_info_direction" text,
	"teleporter_message_info_source_chain_id" text,
	"teleporter_message_info_destination_chain_id" text,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."genesis_data" (
	"genesis_hash" text NOT NULL,
	"genesis_data" jsonb NOT NULL,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."native_balance_values" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"currency_code" text NOT NULL,
	"price" numeric NOT NULL,
	"balance_value_currency_code" text,
	"balance_value" numeric,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."native_balances" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"balance" numeric NOT NULL,
	"name" text,
	"symbol" text,
	"decimals" bigint,
	"logo_uri" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."native_transactions" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"tx_hash" text NOT NULL,
	"tx_status" text,
	"tx_type" bigint,
	"block_number" numeric NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_timestamp_milliseconds" timestamp with time zone,
	"block_min_delay_excess" numeric,
	"block_hash" text,
	"block_index" bigint,
	"from_address" text,
	"from_name" text,
	"from_symbol" text,
	"from_decimals" bigint,
	"from_logo_uri" text,
	"to_address" text,
	"to_name" text,
	"to_symbol" text,
	"to_decimals" bigint,
	"to_logo_uri" text,
	"method_call_type" text,
	"method_hash" text,
	"method_name" text,
	"value" numeric,
	"gas_limit" numeric,
	"gas_used" numeric,
	"gas_price" numeric,
	"nonce" numeric,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."nft_tokens" (
	"chain_id" text NOT NULL,
	"collection" text NOT NULL,
	"token_id" numeric NOT NULL,
	"erc_type" text,
	"name" text,
	"symbol" text,
	"token_uri" text,
	"owner_address" text,
	"metadata_index_status" text,
	"metadata_last_updated_timestamp" timestamp with time zone,
	"metadata_name" text,
	"metadata_symbol" text,
	"metadata_image_uri" text,
	"metadata_description" text,
	"metadata_animation_uri" text,
	"metadata_external_url" text,
	"metadata_background" text,
	"metadata_attributes" text,
	"metadata_decimals" bigint,
	"metadata_properties" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."pending_reward_progress" (
	"network" text NOT NULL,
	"tx_hash" text NOT NULL,
	"reward_type" text NOT NULL,
	"progress" numeric NOT NULL,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."pending_rewards" (
	"network" text NOT NULL,
	"tx_hash" text NOT NULL,
	"reward_type" text NOT NULL,
	"node_id" text,
	"addresses" jsonb,
	"amount_staked" numeric,
	"start_timestamp" timestamp with time zone,
	"end_timestamp" timestamp with time zone,
	"estimated_reward_asset_id" text,
	"estimated_reward_name" text,
	"estimated_reward_symbol" text,
	"estimated_reward_denomination" bigint,
	"estimated_reward_type" text,
	"estimated_reward_amount" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."primary_balances" (
	"network" text NOT NULL,
	"blockchain_id" text NOT NULL,
	"addresses" text NOT NULL,
	"balance_group" text NOT NULL,
	"asset_id" text NOT NULL,
	"shared_with_chain_id" text,
	"name" text,
	"symbol" text,
	"denomination" bigint,
	"type" text,
	"amount" numeric NOT NULL,
	"utxo_count" bigint,
	"status" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."staking_transactions" (
	"network" text NOT NULL,
	"tx_hash" text NOT NULL,
	"tx_type" text NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_number" numeric,
	"block_hash" text,
	"node_id" text,
	"subnet_id" text,
	"start_timestamp" timestamp with time zone,
	"end_timestamp" timestamp with time zone,
	"delegation_fee_percent" numeric,
	"estimated_reward" numeric,
	"reward_tx_hash" text,
	"reward_addresses" jsonb,
	"staking_tx_hash" text,
	"source_chain" text,
	"destination_chain" text,
	"value" jsonb,
	"amount_staked" jsonb,
	"amount_burned" jsonb,
	"amount_l1_validator_balance_burned" jsonb,
	"consumed_utxos" jsonb,
	"emitted_utxos" jsonb,
	"l1_validator_details" jsonb,
	"l1_validator_manager_details_blockchain_id" text,
	"l1_validator_manager_details_contract_address" text,
	"subnet_ownership_info_locktime" timestamp with time zone,
	"subnet_ownership_info_threshold" numeric,
	"subnet_ownership_info_addresses" jsonb,
	"bls_credentials_public_key" text,
	"bls_credentials_proof_of_possession" text,
	"blockchain_info_chain_name" text,
	"blockchain_info_vm_id" text,
	"genesis_hash" text,
	"memo" text,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."subnets" (
	"network" text NOT NULL,
	"subnet_id" text NOT NULL,
	"create_block_timestamp" timestamp with time zone,
	"create_block_index" numeric,
	"is_l1" boolean,
	"subnet_ownership_info_locktime" timestamp with time zone,
	"subnet_ownership_info_threshold" numeric,
	"subnet_ownership_info_addresses" jsonb,
	"l1_conversion_transaction_hash" text,
	"l1_validator_manager_details_blockchain_id" text,
	"l1_validator_manager_details_contract_address" text,
	"owner_addresses" jsonb,
	"threshold" numeric,
	"locktime" timestamp with time zone,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."chain_heights" (
	"node" text NOT NULL,
	"chain" text NOT NULL,
	"height" numeric NOT NULL,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."network_fees" (
	"node" text NOT NULL,
	"tx_fee" numeric,
	"create_asset_tx_fee" numeric,
	"create_subnet_tx_fee" numeric,
	"transform_subnet_tx_fee" numeric,
	"create_blockchain_tx_fee" numeric,
	"add_primary_network_validator_fee" numeric,
	"add_primary_network_delegator_fee" numeric,
	"add_subnet_validator_fee" numeric,
	"add_subnet_delegator_fee" numeric,
	"x_tx_fee" numeric,
	"x_create_asset_tx_fee" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."network_proposals" (
	"node" text NOT NULL,
	"proposal" bigint NOT NULL,
	"support_weight" numeric,
	"supporters" jsonb,
	"object_weight" numeric,
	"objectors" jsonb,
	"abstain_weight" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."network_upgrades" (
	"node" text NOT NULL,
	"apricot_phase1_time" timestamp with time zone,
	"apricot_phase2_time" timestamp with time zone,
	"apricot_phase3_time" timestamp with time zone,
	"apricot_phase4_time" timestamp with time zone,
	"apricot_phase4_min_p_chain_height" numeric,
	"apricot_phase5_time" timestamp with time zone,
	"apricot_phase_pre6_time" timestamp with time zone,
	"apricot_phase6_time" timestamp with time zone,
	"apricot_phase_post6_time" timestamp with time zone,
	"banff_time" timestamp with time zone,
	"cortina_time" timestamp with time zone,
	"cortina_x_chain_stop_vertex_id" text,
	"durango_time" timestamp with time zone,
	"etna_time" timestamp with time zone,
	"fortuna_time" timestamp with time zone,
	"granite_time" timestamp with time zone,
	"granite_epoch_duration" numeric,
	"helicon_time" timestamp with time zone,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."node_blockchains" (
	"node" text NOT NULL,
	"blockchain_id" text NOT NULL,
	"name" text,
	"subnet_id" text,
	"vm_id" text,
	"status" text,
	"alias" text,
	"is_bootstrapped" boolean,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."p_balances" (
	"node" text NOT NULL,
	"address" text NOT NULL,
	"asset_id" text NOT NULL,
	"balance" numeric NOT NULL,
	"unlocked" numeric,
	"locked_stakeable" numeric,
	"locked_not_stakeable" numeric,
	"utxo_ids" jsonb,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."p_blocks" (
	"node" text NOT NULL,
	"height" numeric NOT NULL,
	"id" text,
	"parent_id" text,
	"time" timestamp with time zone,
	"txs" jsonb,
	"tx" jsonb,
	"bytes" text,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."peer_readings" (
	"node" text NOT NULL,
	"node_id" text NOT NULL,
	"last_sent" timestamp with time zone,
	"last_received" timestamp with time zone,
	"observed_uptime" numeric,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."peers" (
	"node" text NOT NULL,
	"node_id" text NOT NULL,
	"ip" text,
	"public_ip" text,
	"version" text,
	"upgrade_time" timestamp with time zone,
	"tracked_subnets" jsonb,
	"supported_acps" jsonb,
	"objected_acps" jsonb,
	"benched" jsonb,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."validator_delegators" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"node_id" text NOT NULL,
	"tx_id" text NOT NULL,
	"start_time" timestamp with time zone NOT NULL,
	"end_time" timestamp with time zone,
	"weight" numeric NOT NULL,
	"reward_owner_locktime" timestamp with time zone,
	"reward_owner_threshold" numeric,
	"reward_owner_addresses" jsonb,
	"potential_reward" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_assets" (
	"node" text NOT NULL,
	"asset_id" text NOT NULL,
	"name" text,
	"symbol" text NOT NULL,
	"denomination" bigint,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_balances" (
	"node" text NOT NULL,
	"address" text NOT NULL,
	"asset_id" text NOT NULL,
	"asset" text,
	"balance" numeric NOT NULL,
	"utxo_ids" jsonb,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_blocks" (
	"node" text NOT NULL,
	"height" numeric NOT NULL,
	"id" text,
	"parent_id" text,
	"time" timestamp with time zone,
	"merkle_root" text,
	"txs" jsonb,
	"bytes" text,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_transactions" (
	"node" text NOT NULL,
	"tx_id" text NOT NULL,
	"status" text,
	"block_height" numeric,
	"block_id" text,
	"block_time" timestamp with time zone,
	"unsigned_tx_network_id" numeric,
	"unsigned_tx_blockchain_id" text,
	"unsigned_tx_outputs" jsonb,
	"unsigned_tx_inputs" jsonb,
	"unsigned_tx_memo" text,
	"unsigned_tx_destination_chain" text,
	"unsigned_tx_exported_outputs" jsonb,
	"unsigned_tx_source_chain" text,
	"unsigned_tx_imported_inputs" jsonb,
	"unsigned_tx_name" text,
	"unsigned_tx_symbol" text,
	"unsigned_tx_denomination" numeric,
	"unsigned_tx_initial_states" jsonb,
	"unsigned_tx_operations" jsonb,
	"credentials" jsonb,
	"bytes" text,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_utxos" (
	"node" text NOT NULL,
	"address" text NOT NULL,
	"utxo_id" text NOT NULL,
	"source_chain" text,
	"tx_id" text NOT NULL,
	"output_index" bigint NOT NULL,
	"asset_id" text NOT NULL,
	"output_type" bigint NOT NULL,
	"amount" numeric,
	"locktime" timestamp with time zone,
	"threshold" bigint,
	"addresses" jsonb,
	"utxo" text NOT NULL,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "aggregated_signatures_key" ON "recorder"."aggregated_signatures" USING btree (network, request);--> statement-breakpoint
CREATE UNIQUE INDEX "blockchains_now" ON "recorder"."blockchains" USING btree (blockchain_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "blockchains_history" ON "recorder"."blockchains" USING btree (blockchain_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "deployed_contracts_now" ON "recorder"."deployed_contracts" USING btree (chain_id, deployer, address) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "deployed_contracts_history" ON "recorder"."deployed_contracts" USING btree (chain_id, deployer, address, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "deployment_transactions_key" ON "recorder"."deployment_transactions" USING btree (chain_id, address);--> statement-breakpoint
CREATE UNIQUE INDEX "erc1155_balances_now" ON "recorder"."erc1155_balances" USING btree (chain_id, address, contract, token_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "erc1155_balances_history" ON "recorder"."erc1155_balances" USING btree (chain_id, address, contract, token_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "erc1155_transfers_key" ON "recorder"."erc1155_transfers" USING btree (chain_id, address, tx_hash, log_index, token_id);--> statement-breakpoint
CREATE UNIQUE INDEX "evm_transactions_key" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash);--> statement-breakpoint
CREATE UNIQUE INDEX "genesis_data_key" ON "recorder"."genesis_data" USING btree (genesis_hash);--> statement-breakpoint
CREATE UNIQUE INDEX "native_balance_values_key" ON "recorder"."native_balance_values" USING btree (chain_id, address, observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "native_balances_now" ON "recorder"."native_balances" USING btree (chain_id, address) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "native_balances_history" ON "recorder"."native_balances" USING btree (chain_id, address, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "native_transactions_key" ON "recorder"."native_transactions" USING btree (chain_id, address, tx_hash);--> statement-breakpoint
CREATE UNIQUE INDEX "nft_tokens_now" ON "recorder"."nft_tokens" USING btree (chain_id, collection, token_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "nft_tokens_history" ON "recorder"."nft_tokens" USING btree (chain_id, collection, token_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "pending_reward_progress_key" ON "recorder"."pending_reward_progress" USING btree (network, tx_hash, reward_type, observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "pending_rewards_now" ON "recorder"."pending_rewards" USING btree (network, tx_hash, reward_type) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "pending_rewards_history" ON "recorder"."pending_rewards" USING btree (network, tx_hash, reward_type, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "primary_balances_now" ON "recorder"."primary_balances" USING btree (network, blockchain_id, addresses, balance_group, asset_id, coalesce(shared_with_chain_id, '')) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "primary_balances_history" ON "recorder"."primary_balances" USING btree (network, blockchain_id, addresses, balance_group, asset_id, coalesce(shared_with_chain_id, ''), valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "staking_transactions_key" ON "recorder"."staking_transactions" USING btree (network, tx_hash);--> statement-breakpoint
CREATE UNIQUE INDEX "subnets_now" ON "recorder"."subnets" USING btree (subnet_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "subnets_history" ON "recorder"."subnets" USING btree (subnet_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "chain_heights_key" ON "recorder"."chain_heights" USING btree (node, chain, observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "network_fees_now" ON "recorder"."network_fees" USING btree (node) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "network_fees_history" ON "recorder"."network_fees" USING btree (node, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "network_proposals_now" ON "recorder"."network_proposals" USING btree (node, proposal) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "network_proposals_history" ON "recorder"."network_proposals" USING btree (node, proposal, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "network_upgrades_now" ON "recorder"."network_upgrades" USING btree (node) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "network_upgrades_history" ON "recorder"."network_upgrades" USING btree (node, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "node_blockchains_now" ON "recorder"."node_blockchains" USING btree (node, blockchain_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "node_blockchains_history" ON "recorder"."node_blockchains" USING btree (node, blockchain_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "p_balances_now" ON "recorder"."p_balances" USING btree (node, address, asset_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "p_balances_history" ON "recorder"."p_balances" USING btree (node, address, asset_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "p_blocks_key" ON "recorder"."p_blocks" USING btree (node, height);--> statement-breakpoint
CREATE UNIQUE INDEX "peer_readings_key" ON "recorder"."peer_readings" USING btree (node, node_id, observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "peers_now" ON "recorder"."peers" USING btree (node, node_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "peers_history" ON "recorder"."peers" USING btree (node, node_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "validator_delegators_now" ON "recorder"."validator_delegators" USING btree (node, subnet_id, node_id, start_time, tx_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "validator_delegators_history" ON "recorder"."validator_delegators" USING btree (node, subnet_id, node_id, start_time, tx_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "x_assets_now" ON "recorder"."x_assets" USING btree (node, asset_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "x_assets_history" ON "recorder"."x_assets" USING btree (node, asset_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "x_balances_now" ON "recorder"."x_balances" USING btree (node, address, asset_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "x_balances_history" ON "recorder"."x_balances" USING btree (node, address, asset_id, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "x_blocks_key" ON "recorder"."x_blocks" USING btree (node, height);--> statement-breakpoint
CREATE UNIQUE INDEX "x_transactions_key" ON "recorder"."x_transactions" USING btree (node, tx_id);--> statement-breakpoint
CREATE UNIQUE INDEX "x_utxos_now" ON "recorder"."x_utxos" USING btree (node, address, utxo_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "x_utxos_history" ON "recorder"."x_utxos" USING btree (node, address, utxo_id, valid_from);