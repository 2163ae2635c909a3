DROP INDEX "recorder"."blockchains_gone";--> statement-breakpoint
DROP INDEX "recorder"."deployed_contracts_gone";--> statement-breakpoint
DROP INDEX "recorder"."erc1155_balances_gone";--> statement-breakpoint
DROP INDEX "recorder"."native_balances_gone";--> statement-breakpoint
DROP INDEX "recorder"."nft_tokens_gone";--> statement-breakpoint
DROP INDEX "recorder"."pending_rewards_gone";--> statement-breakpoint
DROP INDEX "recorder"."primary_balances_gone";--> statement-breakpoint
DROP INDEX "recorder"."subnets_gone";--> statement-breakpoint
DROP INDEX "recorder"."network_fees_gone";--> statement-breakpoint
DROP INDEX "recorder"."network_proposals_gone";--> statement-breakpoint
DROP INDEX "recorder"."network_upgrades_gone";--> statement-breakpoint
DROP INDEX "recorder"."node_blockchains_gone";--> statement-breakpoint
DROP INDEX "recorder"."node_identity_gone";--> statement-breakpoint
DROP INDEX "recorder"."p_balances_gone";--> statement-breakpoint
DROP INDEX "recorder"."peers_gone";--> statement-breakpoint
DROP INDEX "recorder"."validator_delegators_gone";--> statement-breakpoint
DROP INDEX "recorder"."validators_gone";--> statement-breakpoint
DROP INDEX "recorder"."x_assets_gone";--> statement-breakpoint
DROP INDEX "recorder"."x_balances_gone";--> statement-breakpoint
DROP INDEX "recorder"."x_utxos_gone";--> statement-breakpoint
CREATE INDEX "aggregated_signatures_recorded" ON "recorder"."aggregated_signatures" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "blockchains_began" ON "recorder"."blockchains" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "deployed_contracts_began" ON "recorder"."deployed_contracts" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "deployment_transactions_recorded" ON "recorder"."deployment_transactions" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "erc1155_balances_began" ON "recorder"."erc1155_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "erc1155_transfers_recorded" ON "recorder"."erc1155_transfers" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "evm_transactions_recorded" ON "recorder"."evm_transactions" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "genesis_data_recorded" ON "recorder"."genesis_data" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "native_balance_values_observed" ON "recorder"."native_balance_values" USING brin (observed_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "native_balances_began" ON "recorder"."native_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "native_transactions_recorded" ON "recorder"."native_transactions" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "nft_tokens_began" ON "recorder"."nft_tokens" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "pending_reward_progress_observed" ON "recorder"."pending_reward_progress" USING brin (observed_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "pending_rewards_began" ON "recorder"."pending_rewards" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "primary_balances_began" ON "recorder"."primary_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "proposed_blocks_recorded" ON "recorder"."proposed_blocks" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "staking_transactions_recorded" ON "recorder"."staking_transactions" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "subnets_began" ON "recorder"."subnets" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "average_tps_recorded" ON "recorder"."average_tps" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "average_tps_revised" ON "recorder"."average_tps" USING btree (superseded_at) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "metric_points_recorded" ON "recorder"."metric_points" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "metric_points_revised" ON "recorder"."metric_points" USING btree (superseded_at) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "chain_heights_observed" ON "recorder"."chain_heights" USING brin (observed_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "current_supply_observed" ON "recorder"."current_supply" USING brin (observed_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "network_fees_began" ON "recorder"."network_fees" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "network_proposals_began" ON "recorder"."network_proposals" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "network_upgrades_began" ON "recorder"."network_upgrades" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "node_blockchains_began" ON "recorder"."node_blockchains" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "node_identity_began" ON "recorder"."node_identity" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "node_uptime_view_observed" ON "recorder"."node_uptime_view" USING brin (observed_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "p_balances_began" ON "recorder"."p_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "p_blocks_recorded" ON "recorder"."p_blocks" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "peer_readings_observed" ON "recorder"."peer_readings" USING brin (observed_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "peers_began" ON "recorder"."peers" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "validator_delegators_began" ON "recorder"."validator_delegators" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "validator_uptime_observed" ON "recorder"."validator_uptime" USING brin (observed_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "validators_began" ON "recorder"."validators" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "x_assets_began" ON "recorder"."x_assets" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "x_balances_began" ON "recorder"."x_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "x_blocks_recorded" ON "recorder"."x_blocks" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "x_transactions_recorded" ON "recorder"."x_transactions" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "x_utxos_began" ON "recorder"."x_utxos" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "blockchains_gone" ON "recorder"."blockchains" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "deployed_contracts_gone" ON "recorder"."deployed_contracts" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "erc1155_balances_gone" ON "recorder"."erc1155_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "native_balances_gone" ON "recorder"."native_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "nft_tokens_gone" ON "recorder"."nft_tokens" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "pending_rewards_gone" ON "recorder"."pending_rewards" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "primary_balances_gone" ON "recorder"."primary_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "subnets_gone" ON "recorder"."subnets" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "network_fees_gone" ON "recorder"."network_fees" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "network_proposals_gone" ON "recorder"."network_proposals" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "network_upgrades_gone" ON "recorder"."network_upgrades" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "node_blockchains_gone" ON "recorder"."node_blockchains" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "node_identity_gone" ON "recorder"."node_identity" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "p_balances_gone" ON "recorder"."p_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "peers_gone" ON "recorder"."peers" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "validator_delegators_gone" ON "recorder"."validator_delegators" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "validators_gone" ON "recorder"."validators" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "x_assets_gone" ON "recorder"."x_assets" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "x_balances_gone" ON "recorder"."x_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "x_utxos_gone" ON "recorder"."x_utxos" USING btree (valid_to) WHERE ended_by <> 'changed';