CREATE TABLE "recorder"."contradictions" (
	"dataset" text NOT NULL,
	"thing" text[] NOT NULL,
	CONSTRAINT "contradictions_dataset_thing_pk" PRIMARY KEY("dataset","thing")
);
--> statement-breakpoint
CREATE TABLE "recorder"."contradictions_noted" (
	"dataset" text PRIMARY KEY NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "proposed_blocks_single" ON "recorder"."proposed_blocks" USING btree (network, blockchain_id, block_number) WHERE superseded_at is null;