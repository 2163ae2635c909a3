DROP INDEX "recorder"."average_tps_history";--> statement-breakpoint
DROP INDEX "recorder"."metric_points_history";--> statement-breakpoint
CREATE INDEX "average_tps_history" ON "recorder"."average_tps" USING btree (chain_id, bucket_start, recorded_at) WHERE superseded_at is not null and not vanished;--> statement-breakpoint
CREATE INDEX "metric_points_history" ON "recorder"."metric_points" USING btree (chain_id, metric, time_interval, bucket_start, recorded_at) WHERE superseded_at is not null and not vanished;