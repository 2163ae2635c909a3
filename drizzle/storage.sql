-- Storage parameters and a default, which the schema cannot express. The initial migration ends with this file.
-- Rows that are rewritten at each observation leave room for their next version; packed histograms are always compressed.
ALTER TABLE "recorder"."health_probes" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "recorder"."health_latency" SET (toast_tuple_target = 128);--> statement-breakpoint
ALTER TABLE "recorder"."health_latency" ALTER COLUMN "entries" SET STORAGE MAIN;--> statement-breakpoint
-- Bits do not compress, and a row in one piece is read without a second table.
ALTER TABLE "recorder"."reading_days" ALTER COLUMN "bits" SET STORAGE EXTERNAL, ALTER COLUMN "present" SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160);--> statement-breakpoint
ALTER TABLE "recorder"."reading_open" ALTER COLUMN "bits" SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160);--> statement-breakpoint
-- Hashes do not compress; compressing the texts of changed keys took an eighth of a commit.
ALTER TABLE "recorder"."changes" ALTER COLUMN "texts" SET STORAGE EXTERNAL;
--> statement-breakpoint
-- A day in a query is a day of UTC, whatever the zone of the server is. The owner of the database may set another one.
do $$
begin
  execute format('alter database %I set timezone to ''UTC''', current_database());
exception
  when insufficient_privilege then null;
end
$$;
