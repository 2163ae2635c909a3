CREATE TABLE "recorder"."packed_runs" (
	"run_block" bigint NOT NULL,
	"first_run" bigint NOT NULL,
	"last_run" bigint NOT NULL,
	"first_at" timestamp with time zone NOT NULL,
	"runs" integer NOT NULL,
	"widths" integer[] NOT NULL,
	"planes" integer[] NOT NULL,
	"kinds" jsonb NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "packed_runs_run_block_first_run_pk" PRIMARY KEY("run_block","first_run")
);
--> statement-breakpoint
DROP INDEX "recorder"."runs_by_target";--> statement-breakpoint
CREATE INDEX "runs_to_pack" ON "recorder"."runs" USING btree ("run_id") WHERE status = 'done' and error is null and note is null and quarantined = 0 and not (0 = all (rows_written));