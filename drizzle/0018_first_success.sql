ALTER TABLE "recorder"."target_datasets" ADD COLUMN "first_success_at" timestamp with time zone;--> statement-breakpoint
-- Until now nobody wrote it down. Runs that wrote rows are kept; of the others a day is known, at the end of which they were over.
UPDATE "recorder"."target_datasets" d SET first_success_at = least(
  (SELECT min(r.started_at) FROM "recorder"."runs" r
    WHERE r.source = d.source AND r.target_key = d.target_key AND d.dataset = any(r.datasets) AND r.status IN ('done', 'partial')
      AND r.reason NOT IN ('redrive', 'unwatched')),
  (SELECT min(c.starts_on + CASE c.span WHEN 'day' THEN interval '1 day' ELSE interval '1 month' END) AT TIME ZONE 'UTC' FROM "recorder"."run_days" c
    WHERE c.dataset = d.dataset AND c.target_key = d.target_key AND c.runs > c.failed + c.lost AND c.reason NOT IN ('redrive', 'unwatched')));
