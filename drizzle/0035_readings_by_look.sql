CREATE TABLE "recorder"."metric_settling" (
	"metric" text NOT NULL,
	"time_interval" text NOT NULL,
	"revisions" bigint NOT NULL,
	"points_revised" bigint NOT NULL,
	"half_moved_within" interval NOT NULL,
	"settled_within" interval NOT NULL,
	"latest_move" interval NOT NULL,
	"measured_at" timestamp with time zone NOT NULL,
	CONSTRAINT "metric_settling_metric_time_interval_pk" PRIMARY KEY("metric","time_interval")
);
--> statement-breakpoint
DROP INDEX "recorder"."reading_looks_observed";--> statement-breakpoint
CREATE INDEX "reading_scopes_first" ON "recorder"."reading_scopes" USING btree ("dataset",(request[1]),(request[2]));--> statement-breakpoint
CREATE INDEX "reading_looks_observed" ON "recorder"."reading_looks" USING btree ("dataset","observed_at","scope_id");