CREATE TABLE "recorder"."current_supply" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"supply" numeric NOT NULL,
	"height" numeric,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "current_supply_key" ON "recorder"."current_supply" USING btree (node, subnet_id, observed_at);