DROP INDEX "recorder"."reading_looks_observed";--> statement-breakpoint
ALTER TABLE "recorder"."reading_looks" DROP CONSTRAINT "reading_looks_scope_id_day_place_pk";--> statement-breakpoint
CREATE INDEX "reading_looks_observed" ON "recorder"."reading_looks" USING btree ("scope_id","observed_at");--> statement-breakpoint
-- After the views: a look is of the dataset of its scope.
ALTER TABLE "recorder"."reading_looks" DROP COLUMN "dataset";