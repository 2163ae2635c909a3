DROP INDEX "recorder"."blockchains_history";--> statement-breakpoint
DROP INDEX "recorder"."deployed_contracts_history";--> statement-breakpoint
DROP INDEX "recorder"."erc1155_balances_history";--> statement-breakpoint
DROP INDEX "recorder"."native_balances_history";--> statement-breakpoint
DROP INDEX "recorder"."nft_tokens_history";--> statement-breakpoint
DROP INDEX "recorder"."pending_rewards_history";--> statement-breakpoint
DROP INDEX "recorder"."primary_balances_history";--> statement-breakpoint
DROP INDEX "recorder"."subnets_history";--> statement-breakpoint
DROP INDEX "recorder"."network_fees_history";--> statement-breakpoint
DROP INDEX "recorder"."network_proposals_history";--> statement-breakpoint
DROP INDEX "recorder"."network_upgrades_history";--> statement-breakpoint
DROP INDEX "recorder"."node_blockchains_history";--> statement-breakpoint
DROP INDEX "recorder"."node_identity_history";--> statement-breakpoint
DROP INDEX "recorder"."p_balances_history";--> statement-breakpoint
DROP INDEX "recorder"."peers_history";--> statement-breakpoint
DROP INDEX "recorder"."validator_delegators_history";--> statement-breakpoint
DROP INDEX "recorder"."validators_history";--> statement-breakpoint
DROP INDEX "recorder"."x_assets_history";--> statement-breakpoint
DROP INDEX "recorder"."x_balances_history";--> statement-breakpoint
DROP INDEX "recorder"."x_utxos_history";--> statement-breakpoint
CREATE INDEX "blockchains_history" ON "recorder"."blockchains" USING btree (blockchain_id);--> statement-breakpoint
CREATE INDEX "deployed_contracts_history" ON "recorder"."deployed_contracts" USING btree (chain_id, deployer, address);--> statement-breakpoint
CREATE INDEX "erc1155_balances_history" ON "recorder"."erc1155_balances" USING btree (chain_id, address, contract, token_id);--> statement-breakpoint
CREATE INDEX "native_balances_history" ON "recorder"."native_balances" USING btree (chain_id, address);--> statement-breakpoint
CREATE INDEX "nft_tokens_history" ON "recorder"."nft_tokens" USING btree (chain_id, collection, token_id);--> statement-breakpoint
CREATE INDEX "pending_rewards_history" ON "recorder"."pending_rewards" USING btree (network, tx_hash, reward_type);--> statement-breakpoint
CREATE INDEX "primary_balances_history" ON "recorder"."primary_balances" USING btree (network, blockchain_id, addresses, balance_group, asset_id, coalesce(shared_with_chain_id, ''));--> statement-breakpoint
CREATE INDEX "subnets_history" ON "recorder"."subnets" USING btree (subnet_id);--> statement-breakpoint
CREATE INDEX "network_fees_history" ON "recorder"."network_fees" USING btree (node);--> statement-breakpoint
CREATE INDEX "network_proposals_history" ON "recorder"."network_proposals" USING btree (node, proposal);--> statement-breakpoint
CREATE INDEX "network_upgrades_history" ON "recorder"."network_upgrades" USING btree (node);--> statement-breakpoint
CREATE INDEX "node_blockchains_history" ON "recorder"."node_blockchains" USING btree (node, blockchain_id);--> statement-breakpoint
CREATE INDEX "node_identity_history" ON "recorder"."node_identity" USING btree (node);--> statement-breakpoint
CREATE INDEX "p_balances_history" ON "recorder"."p_balances" USING btree (node, address, asset_id);--> statement-breakpoint
CREATE INDEX "peers_history" ON "recorder"."peers" USING btree (node, node_id);--> statement-breakpoint
CREATE INDEX "validator_delegators_history" ON "recorder"."validator_delegators" USING btree (node, subnet_id, node_id, start_time, tx_id);--> statement-breakpoint
CREATE INDEX "validators_history" ON "recorder"."validators" USING btree (node, subnet_id, node_id, start_time, coalesce(tx_id, ''), coalesce(validation_id, ''));--> statement-breakpoint
CREATE INDEX "x_assets_history" ON "recorder"."x_assets" USING btree (node, asset_id);--> statement-breakpoint
CREATE INDEX "x_balances_history" ON "recorder"."x_balances" USING btree (node, address, asset_id);--> statement-breakpoint
CREATE INDEX "x_utxos_history" ON "recorder"."x_utxos" USING btree (node, address, utxo_id);