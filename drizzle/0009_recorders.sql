CREATE TABLE "recorder"."configurations" (
	"recorder" text NOT NULL,
	"digest" text NOT NULL,
	"network" text NOT NULL,
	"generation" bigint NOT NULL,
	"newest" boolean NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "configurations_recorder_digest_pk" PRIMARY KEY("recorder","digest")
);
--> statement-breakpoint
CREATE TABLE "recorder"."processes" (
	"process" text PRIMARY KEY NOT NULL,
	"recorder" text NOT NULL,
	"digest" text NOT NULL,
	"roles" text[] NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"left_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "recorder"."schedules" ADD COLUMN "recorder" text DEFAULT 'recorder' NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."target_datasets" ADD COLUMN "left_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."target_datasets" ADD COLUMN "ended_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."targets" ADD COLUMN "recorder" text;--> statement-breakpoint
CREATE UNIQUE INDEX "configurations_newest" ON "recorder"."configurations" USING btree ("recorder") WHERE newest;--> statement-breakpoint
CREATE INDEX "processes_by_recorder" ON "recorder"."processes" USING btree ("recorder","digest");
--> statement-breakpoint
-- Until now every target was the one recorder's. What left its configuration before is ended with the next start; what was
-- asked for by hand beside a list was never watched.
UPDATE "recorder"."targets" t SET recorder = 'recorder'
WHERE EXISTS (SELECT FROM "recorder"."target_datasets" d WHERE (d.source, d.target_key) = (t.source, t.target_key)) AND NOT t.target ? 'tokenId';
--> statement-breakpoint
UPDATE "recorder"."target_datasets" d SET left_at = now()
FROM "recorder"."targets" t
WHERE (d.source, d.target_key) = (t.source, t.target_key) AND NOT d.active AND t.recorder IS NOT NULL
	AND t.source NOT IN ('aggregated-signatures', 'p-blocks', 'x-chain-blocks');
