DROP INDEX "recorder"."reading_looks_observed";--> statement-breakpoint
CREATE INDEX "reading_scopes_first" ON "recorder"."reading_scopes" USING btree ("dataset",(request[1]),(request[2]));--> statement-breakpoint
CREATE INDEX "reading_looks_observed" ON "recorder"."reading_looks" USING btree ("dataset","observed_at","scope_id");