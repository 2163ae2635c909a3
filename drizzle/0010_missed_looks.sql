ALTER TABLE "recorder"."blockchains" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."blockchains" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."deployed_contracts" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."deployed_contracts" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."erc1155_balances" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."erc1155_balances" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."native_balances" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."native_balances" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."nft_tokens" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."nft_tokens" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."pending_rewards" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."pending_rewards" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."primary_balances" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."primary_balances" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."subnets" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."subnets" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."network_fees" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."network_fees" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."network_proposals" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."network_proposals" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."network_upgrades" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."network_upgrades" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."node_blockchains" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."node_blockchains" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."node_identity" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."node_identity" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."p_balances" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."p_balances" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."peers" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."peers" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."validator_delegators" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."validator_delegators" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."validators" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."validators" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."x_assets" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."x_assets" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."x_balances" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."x_balances" ADD COLUMN "missed_from" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."x_utxos" ADD COLUMN "missed_looks" integer;--> statement-breakpoint
ALTER TABLE "recorder"."x_utxos" ADD COLUMN "missed_from" timestamp with time zone;