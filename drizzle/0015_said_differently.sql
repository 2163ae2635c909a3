DROP INDEX "recorder"."aggregated_signatures_key";--> statement-breakpoint
DROP INDEX "recorder"."deployment_transactions_key";--> statement-breakpoint
DROP INDEX "recorder"."erc1155_transfers_key";--> statement-breakpoint
DROP INDEX "recorder"."evm_transactions_key";--> statement-breakpoint
DROP INDEX "recorder"."genesis_data_key";--> statement-breakpoint
DROP INDEX "recorder"."native_transactions_key";--> statement-breakpoint
DROP INDEX "recorder"."proposed_blocks_key";--> statement-breakpoint
DROP INDEX "recorder"."staking_transactions_key";--> statement-breakpoint
DROP INDEX "recorder"."p_blocks_key";--> statement-breakpoint
DROP INDEX "recorder"."x_blocks_key";--> statement-breakpoint
DROP INDEX "recorder"."x_transactions_key";--> statement-breakpoint
ALTER TABLE "recorder"."aggregated_signatures" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."deployment_transactions" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."erc1155_transfers" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."evm_transactions" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."genesis_data" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."native_transactions" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."proposed_blocks" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."staking_transactions" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."p_blocks" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."x_blocks" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."x_transactions" ADD COLUMN "superseded_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "aggregated_signatures_superseded" ON "recorder"."aggregated_signatures" USING btree (network, request) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "deployment_transactions_superseded" ON "recorder"."deployment_transactions" USING btree (chain_id, address) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "erc1155_transfers_superseded" ON "recorder"."erc1155_transfers" USING btree (chain_id, address, tx_hash, log_index, token_id) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "evm_transactions_superseded" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "genesis_data_superseded" ON "recorder"."genesis_data" USING btree (genesis_hash) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "native_transactions_superseded" ON "recorder"."native_transactions" USING btree (chain_id, address, tx_hash) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "proposed_blocks_superseded" ON "recorder"."proposed_blocks" USING btree (network, blockchain_id, block_hash) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "staking_transactions_superseded" ON "recorder"."staking_transactions" USING btree (network, tx_hash) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "p_blocks_superseded" ON "recorder"."p_blocks" USING btree (node, height) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "x_blocks_superseded" ON "recorder"."x_blocks" USING btree (node, height) WHERE superseded_at is not null;--> statement-breakpoint
CREATE INDEX "x_transactions_superseded" ON "recorder"."x_transactions" USING btree (node, tx_id) WHERE superseded_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "aggregated_signatures_key" ON "recorder"."aggregated_signatures" USING btree (network, request) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "deployment_transactions_key" ON "recorder"."deployment_transactions" USING btree (chain_id, address) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "erc1155_transfers_key" ON "recorder"."erc1155_transfers" USING btree (chain_id, address, tx_hash, log_index, token_id) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "evm_transactions_key" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "genesis_data_key" ON "recorder"."genesis_data" USING btree (genesis_hash) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "native_transactions_key" ON "recorder"."native_transactions" USING btree (chain_id, address, tx_hash) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "proposed_blocks_key" ON "recorder"."proposed_blocks" USING btree (network, blockchain_id, block_hash) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "staking_transactions_key" ON "recorder"."staking_transactions" USING btree (network, tx_hash) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "p_blocks_key" ON "recorder"."p_blocks" USING btree (node, height) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "x_blocks_key" ON "recorder"."x_blocks" USING btree (node, height) WHERE superseded_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "x_transactions_key" ON "recorder"."x_transactions" USING btree (node, tx_id) WHERE superseded_at is null;