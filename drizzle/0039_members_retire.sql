DROP INDEX "recorder"."reading_members_words";--> statement-breakpoint
ALTER TABLE "recorder"."reading_members" ADD COLUMN "retired_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."reading_members" ADD CONSTRAINT "reading_members_words" UNIQUE NULLS NOT DISTINCT("scope_id","words","retired_at");