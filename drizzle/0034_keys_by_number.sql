-- Nobody may record a point, perhaps of a new series, between the statements.
LOCK TABLE "recorder"."metric_points" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "recorder"."metric_points_series" (
	"series_id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "recorder"."metric_points_series_series_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"chain_id" text NOT NULL,
	"metric" text NOT NULL,
	"time_interval" text NOT NULL
);
--> statement-breakpoint
INSERT INTO "recorder"."metric_points_series" ("chain_id", "metric", "time_interval")
SELECT DISTINCT "chain_id", "metric", "time_interval" FROM "recorder"."metric_points" ORDER BY 1, 2, 3;--> statement-breakpoint
CREATE UNIQUE INDEX "metric_points_series_key" ON "recorder"."metric_points_series" USING btree (chain_id, metric, time_interval);--> statement-breakpoint
ANALYZE "recorder"."metric_points_series";--> statement-breakpoint
-- The rows are written anew, as they came: an index of what was written when expects them so, and no row keeps the space of its texts.
SET LOCAL synchronize_seqscans = off;--> statement-breakpoint
DROP INDEX "recorder"."metric_points_now", "recorder"."metric_points_history", "recorder"."metric_points_recorded", "recorder"."metric_points_revised";--> statement-breakpoint
ALTER TABLE "recorder"."metric_points" RENAME TO "metric_points_by_text";--> statement-breakpoint
CREATE TABLE "recorder"."metric_points" (
	"bucket_start" timestamp with time zone NOT NULL,
	"recorded_at" timestamp with time zone NOT NULL,
	"superseded_at" timestamp with time zone,
	"run_id" bigint NOT NULL,
	"series_id" integer NOT NULL,
	"vanished" boolean DEFAULT false NOT NULL,
	"value" numeric NOT NULL,
	"extra" jsonb
);
--> statement-breakpoint
INSERT INTO "recorder"."metric_points"
SELECT p."bucket_start", p."recorded_at", p."superseded_at", p."run_id", s."series_id", p."vanished", p."value", p."extra"
FROM "recorder"."metric_points_by_text" p JOIN "recorder"."metric_points_series" s USING ("chain_id", "metric", "time_interval");--> statement-breakpoint
CREATE UNIQUE INDEX "metric_points_now" ON "recorder"."metric_points" USING btree (series_id, bucket_start) WHERE superseded_at is null or vanished;--> statement-breakpoint
CREATE INDEX "metric_points_history" ON "recorder"."metric_points" USING btree (series_id, bucket_start, recorded_at) WHERE superseded_at is not null and not vanished;--> statement-breakpoint
CREATE INDEX "metric_points_recorded" ON "recorder"."metric_points" USING brin (recorded_at timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "metric_points_revised" ON "recorder"."metric_points" USING btree (superseded_at) WHERE superseded_at is not null;--> statement-breakpoint
ANALYZE "recorder"."metric_points";--> statement-breakpoint
-- After the views: they read the old table until they are made anew.
DROP TABLE "recorder"."metric_points_by_text";
