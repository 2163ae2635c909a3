ALTER TABLE "recorder"."quarantine" ADD COLUMN "digest" text;--> statement-breakpoint
ALTER TABLE "recorder"."quarantine" ADD COLUMN "last_seen" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recorder"."quarantine" ADD COLUMN "times" bigint DEFAULT 1 NOT NULL;--> statement-breakpoint
-- An item that came often becomes one row: the first one, which counts the others.
UPDATE "recorder"."quarantine" q SET
	"digest" = same."digest", "last_seen" = same."last_seen", "times" = same."times", "run_id" = same."run_id"
FROM (
	SELECT min("id") AS "id", encode(sha256(convert_to("item" || E'\n' || "reason", 'UTF8')), 'hex') AS "digest",
		max("quarantined_at") AS "last_seen", count(*) AS "times", max("run_id") AS "run_id"
	FROM "recorder"."quarantine" GROUP BY "dataset", "target_key", "item", "reason"
) same
WHERE q."id" = same."id";
--> statement-breakpoint
DELETE FROM "recorder"."quarantine" WHERE "digest" IS NULL;
--> statement-breakpoint
ALTER TABLE "recorder"."quarantine" ALTER COLUMN "digest" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."quarantine" ALTER COLUMN "last_seen" SET NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "quarantine_once" ON "recorder"."quarantine" USING btree ("dataset","target_key","digest");
