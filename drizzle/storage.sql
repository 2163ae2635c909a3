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
-- A day in a query is a day of UTC, whatever the time zone of the server is: in a database of the recorder alone, which was given none.
do $$
begin
  if not exists (select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) c
      where d.datname = current_database() and s.setrole = 0 and c ilike 'timezone=%')
    and not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname !~ '^(pg_|information_schema$|recorder|reporting(_internal)?$|drizzle$|bullmq$)' and c.relkind in ('r', 'p', 'v', 'm', 'f')
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e'))
  then
    execute format('alter database %I set timezone to ''UTC''', current_database());
  end if;
exception
  when insufficient_privilege then null;
end
$$;
