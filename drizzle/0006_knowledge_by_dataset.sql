CREATE TABLE "recorder"."target_datasets" (
	"source" text NOT NULL,
	"target_key" text NOT NULL,
	"dataset" text NOT NULL,
	"every_ms" bigint NOT NULL,
	"active" boolean NOT NULL,
	"wanted_at" timestamp with time zone NOT NULL,
	"expected_from" bigint,
	"last_success_at" timestamp with time zone,
	"last_complete_at" timestamp with time zone,
	"incomplete_since" timestamp with time zone,
	"incomplete_reason" text,
	"last_failure_at" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"not_offered" text,
	CONSTRAINT "target_datasets_source_target_key_dataset_pk" PRIMARY KEY("source","target_key","dataset")
);
--> statement-breakpoint
CREATE INDEX "target_datasets_by_dataset" ON "recorder"."target_datasets" USING btree ("dataset","target_key");--> statement-breakpoint
INSERT INTO "recorder"."target_datasets" ("source", "target_key", "dataset", "every_ms", "active", "wanted_at", "expected_from",
	"last_success_at", "last_complete_at", "last_failure_at", "failures", "not_offered")
SELECT t.source, t.target_key, d.dataset, t.every_ms, t.active,
	coalesce((SELECT min(r.started_at) FROM "recorder"."runs" r WHERE (r.source, r.target_key) = (t.source, t.target_key)), now()),
	t.expected_from, t.last_success_at,
	(SELECT max(r.finished_at) FROM "recorder"."runs" r
		WHERE (r.source, r.target_key) = (t.source, t.target_key) AND r.status = 'done' AND r.reason IN ('poll', 'manual')),
	t.last_failure_at, t.failures, t.not_offered
FROM "recorder"."targets" t, unnest(t.datasets) AS d(dataset);
--> statement-breakpoint
-- These views read the columns that go. What people built on them stays: they are empty until migrate defines them anew.
DO $$
DECLARE own record;
BEGIN
	FOR own IN
		SELECT c.relname, string_agg(format('null::%s as %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' ORDER BY a.attnum) AS columns
		FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = to_regnamespace('reporting') AND c.relkind = 'v' AND c.relname IN ('freshness', 'coverage_states', 'gaps')
		GROUP BY c.relname
	LOOP
		EXECUTE format('create or replace view reporting.%I as select %s where false', own.relname, own.columns);
	END LOOP;
END $$;
--> statement-breakpoint
ALTER TABLE "recorder"."targets" DROP COLUMN "datasets";--> statement-breakpoint
ALTER TABLE "recorder"."targets" DROP COLUMN "every_ms";--> statement-breakpoint
ALTER TABLE "recorder"."targets" DROP COLUMN "active";--> statement-breakpoint
ALTER TABLE "recorder"."targets" DROP COLUMN "expected_from";--> statement-breakpoint
ALTER TABLE "recorder"."targets" DROP COLUMN "last_success_at";--> statement-breakpoint
ALTER TABLE "recorder"."targets" DROP COLUMN "last_failure_at";--> statement-breakpoint
ALTER TABLE "recorder"."targets" DROP COLUMN "failures";--> statement-breakpoint
ALTER TABLE "recorder"."targets" DROP COLUMN "not_offered";