CREATE TABLE "recorder"."run_days" (
	"span" text NOT NULL,
	"starts_on" date NOT NULL,
	"dataset" text NOT NULL,
	"target_key" text NOT NULL,
	"reason" text NOT NULL,
	"runs" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"lost" bigint NOT NULL,
	"pages" bigint NOT NULL,
	"items" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"budget_units" bigint NOT NULL,
	"quarantined" bigint NOT NULL,
	CONSTRAINT "run_days_span_starts_on_dataset_target_key_reason_pk" PRIMARY KEY("span","starts_on","dataset","target_key","reason")
);
--> statement-breakpoint
CREATE TABLE "recorder"."schedules" (
	"schedule" text PRIMARY KEY NOT NULL,
	"every_ms" bigint NOT NULL,
	"next_at" timestamp with time zone,
	"missing_since" timestamp with time zone,
	"seen_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "recorder"."target_datasets" ADD COLUMN "once" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."target_datasets" ADD COLUMN "last_error" text;--> statement-breakpoint
ALTER TABLE "recorder"."target_datasets" ADD COLUMN "items" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."target_datasets" ADD COLUMN "rows_written" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."target_datasets" ADD COLUMN "rows_day" date;--> statement-breakpoint
ALTER TABLE "recorder"."target_datasets" ADD COLUMN "rows_today" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."targets" ADD COLUMN "look_requests" integer;--> statement-breakpoint
ALTER TABLE "recorder"."targets" ADD COLUMN "look_from" bigint;--> statement-breakpoint
ALTER TABLE "recorder"."targets" ADD COLUMN "look_to" bigint;--> statement-breakpoint
CREATE INDEX "runs_that_wrote_nothing" ON "recorder"."runs" USING btree ("finished_at") WHERE 0 = all (rows_written);--> statement-breakpoint
UPDATE "recorder"."target_datasets" t SET items = c.items, rows_written = c.rows_written
FROM (SELECT r.source, r.target_key, d.dataset, sum(r.items[d.place]) AS items, sum(r.rows_written[d.place]) AS rows_written
	FROM "recorder"."runs" r, unnest(r.datasets) WITH ORDINALITY AS d(dataset, place) GROUP BY 1, 2, 3) c
WHERE (t.source, t.target_key, t.dataset) = (c.source, c.target_key, c.dataset);
--> statement-breakpoint
UPDATE "recorder"."target_datasets" t SET last_error = c.error
FROM (SELECT DISTINCT ON (r.source, r.target_key, d.dataset) r.source, r.target_key, d.dataset, r.error
	FROM "recorder"."runs" r, unnest(r.datasets) AS d(dataset)
	WHERE r.status IN ('failed', 'not-offered', 'lost') ORDER BY r.source, r.target_key, d.dataset, r.run_id DESC) c
WHERE (t.source, t.target_key, t.dataset) = (c.source, c.target_key, c.dataset);
--> statement-breakpoint
-- The last poll, or else the newest window that was recorded by hand.
UPDATE "recorder"."targets" t SET look_requests = c.requests, look_from = c.window_from, look_to = c.window_to
FROM (SELECT DISTINCT ON (r.source, r.target_key) r.source, r.target_key, r.requests, r.window_from, r.window_to
	FROM "recorder"."runs" r WHERE r.reason IN ('poll', 'manual') AND r.status IN ('done', 'partial')
	ORDER BY r.source, r.target_key, r.reason = 'poll' DESC, CASE r.reason WHEN 'manual' THEN r.window_to END DESC NULLS LAST, r.run_id DESC) c
WHERE (t.source, t.target_key) = (c.source, c.target_key);
