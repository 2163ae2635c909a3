ALTER TABLE "recorder"."blockchains" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."deployed_contracts" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."erc1155_balances" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."native_balances" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."nft_tokens" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."pending_rewards" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."primary_balances" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."subnets" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."network_fees" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."network_proposals" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."network_upgrades" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."node_blockchains" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."node_identity" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."p_balances" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."peers" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."validator_delegators" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."validators" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."x_assets" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."x_balances" ADD COLUMN "ended_by" text;--> statement-breakpoint
ALTER TABLE "recorder"."x_utxos" ADD COLUMN "ended_by" text;--> statement-breakpoint
-- Until now a version did not say why it ended: where another one of its key took over at that instant it was changed, else it was gone.
UPDATE "recorder"."subnets" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."subnets" n WHERE n.subnet_id = o.subnet_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."blockchains" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."blockchains" n WHERE n.blockchain_id = o.blockchain_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."primary_balances" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."primary_balances" n WHERE n.network = o.network and n.blockchain_id = o.blockchain_id and n.addresses = o.addresses and n.balance_group = o.balance_group and n.asset_id = o.asset_id and coalesce(n.shared_with_chain_id, '') = coalesce(o.shared_with_chain_id, '') and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."pending_rewards" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."pending_rewards" n WHERE n.network = o.network and n.tx_hash = o.tx_hash and n.reward_type = o.reward_type and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."native_balances" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."native_balances" n WHERE n.chain_id = o.chain_id and n.address = o.address and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."erc1155_balances" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."erc1155_balances" n WHERE n.chain_id = o.chain_id and n.address = o.address and n.contract = o.contract and n.token_id = o.token_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."deployed_contracts" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."deployed_contracts" n WHERE n.chain_id = o.chain_id and n.deployer = o.deployer and n.address = o.address and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."nft_tokens" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."nft_tokens" n WHERE n.chain_id = o.chain_id and n.collection = o.collection and n.token_id = o.token_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."validators" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."validators" n WHERE n.node = o.node and n.subnet_id = o.subnet_id and n.node_id = o.node_id and n.start_time = o.start_time and coalesce(n.tx_id, '') = coalesce(o.tx_id, '') and coalesce(n.validation_id, '') = coalesce(o.validation_id, '') and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."validator_delegators" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."validator_delegators" n WHERE n.node = o.node and n.subnet_id = o.subnet_id and n.node_id = o.node_id and n.start_time = o.start_time and n.tx_id = o.tx_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."x_assets" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."x_assets" n WHERE n.node = o.node and n.asset_id = o.asset_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."x_utxos" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."x_utxos" n WHERE n.node = o.node and n.address = o.address and n.utxo_id = o.utxo_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."x_balances" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."x_balances" n WHERE n.node = o.node and n.address = o.address and n.asset_id = o.asset_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."p_balances" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."p_balances" n WHERE n.node = o.node and n.address = o.address and n.asset_id = o.asset_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."node_blockchains" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."node_blockchains" n WHERE n.node = o.node and n.blockchain_id = o.blockchain_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."node_identity" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."node_identity" n WHERE n.node = o.node and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."network_fees" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."network_fees" n WHERE n.node = o.node and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."network_upgrades" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."network_upgrades" n WHERE n.node = o.node and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."network_proposals" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."network_proposals" n WHERE n.node = o.node and n.proposal = o.proposal and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;--> statement-breakpoint
UPDATE "recorder"."peers" o SET ended_by = CASE WHEN EXISTS (SELECT FROM "recorder"."peers" n WHERE n.node = o.node and n.node_id = o.node_id and n.valid_from = o.valid_to) THEN 'changed' ELSE 'gone' END WHERE o.valid_to IS NOT NULL;
