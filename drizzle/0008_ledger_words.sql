ALTER TABLE "recorder"."health_observers" ADD COLUMN "refused" jsonb;--> statement-breakpoint
ALTER TABLE "recorder"."health_probes" ADD COLUMN "latest" jsonb;--> statement-breakpoint
ALTER TABLE "recorder"."node_health" ADD COLUMN "failing_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."node_health" ADD COLUMN "failures" bigint;--> statement-breakpoint
ALTER TABLE "recorder"."node_health" ADD COLUMN "last_error" text;--> statement-breakpoint
ALTER TABLE "recorder"."node_health" ADD COLUMN "last_message" jsonb;