CREATE SCHEMA "recorder";
--> statement-breakpoint
CREATE TABLE "recorder"."budgets" (
	"upstream" text PRIMARY KEY NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	"minute_units" bigint NOT NULL,
	"day" date NOT NULL,
	"day_units" bigint NOT NULL,
	"blocked_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recorder"."coverage" (
	"dataset" text NOT NULL,
	"target_key" text NOT NULL,
	"axis" text NOT NULL,
	"covered" "int8multirange" NOT NULL,
	CONSTRAINT "coverage_dataset_target_key_pk" PRIMARY KEY("dataset","target_key")
);
--> statement-breakpoint
CREATE TABLE "recorder"."gaps" (
	"dataset" text NOT NULL,
	"target_key" text NOT NULL,
	"axis" text NOT NULL,
	"range" "int8range" NOT NULL,
	"reason" text NOT NULL,
	"noticed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "gaps_dataset_target_key_range_pk" PRIMARY KEY("dataset","target_key","range")
);
--> statement-breakpoint
CREATE TABLE "recorder"."quarantine" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"dataset" text NOT NULL,
	"target_key" text NOT NULL,
	"run_id" bigint NOT NULL,
	"quarantined_at" timestamp with time zone NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"reason" text NOT NULL,
	"item" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."reporting_objects" (
	"name" text PRIMARY KEY NOT NULL,
	"definition" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."runs" (
	"run_id" bigserial PRIMARY KEY NOT NULL,
	"source" text NOT NULL,
	"target_key" text NOT NULL,
	"datasets" text[] NOT NULL,
	"reason" text NOT NULL,
	"status" text NOT NULL,
	"worker" text NOT NULL,
	"window_from" bigint,
	"window_to" bigint,
	"started_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"pages" integer DEFAULT 0 NOT NULL,
	"items" bigint[] NOT NULL,
	"rows_written" bigint[] NOT NULL,
	"quarantined" bigint DEFAULT 0 NOT NULL,
	"requests" integer DEFAULT 0 NOT NULL,
	"budget_units" bigint DEFAULT 0 NOT NULL,
	"note" text,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "recorder"."targets" (
	"source" text NOT NULL,
	"target_key" text NOT NULL,
	"target" jsonb NOT NULL,
	"datasets" text[] NOT NULL,
	"every_ms" bigint NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"expected_from" bigint,
	"run_id" bigint,
	"lease_until" timestamp with time zone,
	"last_success_at" timestamp with time zone,
	"last_failure_at" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"not_offered" text,
	CONSTRAINT "targets_source_target_key_pk" PRIMARY KEY("source","target_key")
);
--> statement-breakpoint
CREATE TABLE "recorder"."proposed_blocks" (
	"network" text NOT NULL,
	"blockchain_id" text NOT NULL,
	"block_number" numeric NOT NULL,
	"block_hash" text NOT NULL,
	"parent_hash" text NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_type" text NOT NULL,
	"tx_count" bigint NOT NULL,
	"transactions" jsonb NOT NULL,
	"block_size_bytes" bigint NOT NULL,
	"l1_validators_accrued_fees" numeric,
	"active_l1_validators" bigint,
	"current_supply" numeric,
	"proposer_id" text,
	"proposer_parent_id" text,
	"proposer_node_id" text,
	"proposer_p_chain_height" numeric,
	"proposer_timestamp" timestamp with time zone,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."average_tps" (
	"chain_id" text NOT NULL,
	"bucket_start" timestamp with time zone NOT NULL,
	"value" numeric NOT NULL,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"superseded_at" timestamp with time zone,
	"vanished" boolean DEFAULT false NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."metric_points" (
	"chain_id" text NOT NULL,
	"metric" text NOT NULL,
	"time_interval" text NOT NULL,
	"bucket_start" timestamp with time zone NOT NULL,
	"value" numeric NOT NULL,
	"extra" jsonb,
	"recorded_at" timestamp with time zone NOT NULL,
	"superseded_at" timestamp with time zone,
	"vanished" boolean DEFAULT false NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."node_health" (
	"observer" text NOT NULL,
	"node" text NOT NULL,
	"probe" text NOT NULL,
	"check_name" text NOT NULL,
	"state" text NOT NULL,
	"error" text,
	"message" jsonb,
	"extra" jsonb,
	"id" bigserial NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone NOT NULL,
	"probes" bigint NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."node_identity" (
	"node" text NOT NULL,
	"node_id" text,
	"node_pop_public_key" text,
	"node_pop_proof_of_possession" text,
	"ip" text,
	"version" text,
	"database_version" text,
	"git_commit" text,
	"rpc_protocol_version" numeric,
	"vm_versions" jsonb,
	"network_id" numeric,
	"network_name" text,
	"vms" jsonb,
	"fxs" jsonb,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."node_uptime_view" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"rewarding_stake_percentage" numeric NOT NULL,
	"weighted_average_percentage" numeric NOT NULL,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."validator_uptime" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"node_id" text NOT NULL,
	"uptime" numeric,
	"connected" boolean,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."validators" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"node_id" text NOT NULL,
	"start_time" timestamp with time zone NOT NULL,
	"tx_id" text,
	"validation_id" text,
	"end_time" timestamp with time zone,
	"weight" numeric NOT NULL,
	"public_key" text,
	"remaining_balance_owner_locktime" timestamp with time zone,
	"remaining_balance_owner_threshold" numeric,
	"remaining_balance_owner_addresses" jsonb,
	"deactivation_owner_locktime" timestamp with time zone,
	"deactivation_owner_threshold" numeric,
	"deactivation_owner_addresses" jsonb,
	"validation_reward_owner_locktime" timestamp with time zone,
	"validation_reward_owner_threshold" numeric,
	"validation_reward_owner_addresses" jsonb,
	"delegation_reward_owner_locktime" timestamp with time zone,
	"delegation_reward_owner_threshold" numeric,
	"delegation_reward_owner_addresses" jsonb,
	"validator_authority_locktime" timestamp with time zone,
	"validator_authority_threshold" numeric,
	"validator_authority_addresses" jsonb,
	"min_nonce" numeric,
	"balance" numeric,
	"potential_reward" numeric,
	"accrued_delegatee_reward" numeric,
	"delegation_fee" numeric,
	"signer_public_key" text,
	"signer_proof_of_possession" text,
	"delegator_count" numeric,
	"delegator_weight" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "quarantine_by_dataset" ON "recorder"."quarantine" USING btree ("dataset","id");--> statement-breakpoint
CREATE INDEX "runs_by_target" ON "recorder"."runs" USING btree ("source","target_key","run_id");--> statement-breakpoint
CREATE INDEX "runs_running" ON "recorder"."runs" USING btree ("status") WHERE status = 'running';--> statement-breakpoint
CREATE UNIQUE INDEX "proposed_blocks_key" ON "recorder"."proposed_blocks" USING btree (network, blockchain_id, block_hash);--> statement-breakpoint
CREATE UNIQUE INDEX "average_tps_now" ON "recorder"."average_tps" USING btree (chain_id, bucket_start) WHERE superseded_at is null or vanished;--> statement-breakpoint
CREATE INDEX "average_tps_history" ON "recorder"."average_tps" USING btree (chain_id, bucket_start, recorded_at);--> statement-breakpoint
CREATE UNIQUE INDEX "metric_points_now" ON "recorder"."metric_points" USING btree (chain_id, metric, time_interval, bucket_start) WHERE superseded_at is null or vanished;--> statement-breakpoint
CREATE INDEX "metric_points_history" ON "recorder"."metric_points" USING btree (chain_id, metric, time_interval, bucket_start, recorded_at);--> statement-breakpoint
CREATE UNIQUE INDEX "node_health_key" ON "recorder"."node_health" USING btree (observer, node, probe, check_name, started_at, state);--> statement-breakpoint
CREATE UNIQUE INDEX "node_identity_now" ON "recorder"."node_identity" USING btree (node) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "node_identity_history" ON "recorder"."node_identity" USING btree (node, valid_from);--> statement-breakpoint
CREATE UNIQUE INDEX "node_uptime_view_key" ON "recorder"."node_uptime_view" USING btree (node, subnet_id, observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "validator_uptime_key" ON "recorder"."validator_uptime" USING btree (node, subnet_id, node_id, observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "validators_now" ON "recorder"."validators" USING btree (node, subnet_id, node_id, start_time, coalesce(tx_id, ''), coalesce(validation_id, '')) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "validators_history" ON "recorder"."validators" USING btree (node, subnet_id, node_id, start_time, coalesce(tx_id, ''), coalesce(validation_id, ''), valid_from);