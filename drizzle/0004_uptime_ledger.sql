-- Views that read what moves are made anew after the migrations.
DROP VIEW IF EXISTS "reporting"."node_health", "reporting"."node_health_intervals";--> statement-breakpoint
DELETE FROM "recorder"."reporting_objects" WHERE "name" IN ('node_health', 'node_health_intervals');--> statement-breakpoint
DELETE FROM "recorder"."node_health" earlier USING "recorder"."node_health" later
  WHERE (earlier.observer, earlier.node, earlier.probe, earlier.check_name, earlier.started_at)
    = (later.observer, later.node, later.probe, later.check_name, later.started_at) AND earlier.id < later.id;--> statement-breakpoint
CREATE TABLE "recorder"."health_absences" (
	"observer" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone NOT NULL,
	"reason" text NOT NULL,
	CONSTRAINT "health_absences_observer_started_at_pk" PRIMARY KEY("observer","started_at")
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_latency" (
	"observer" text NOT NULL,
	"node" text NOT NULL,
	"probe" text NOT NULL,
	"span" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"entries" "bytea" NOT NULL,
	CONSTRAINT "health_latency_span_starts_at_observer_node_probe_pk" PRIMARY KEY("span","starts_at","observer","node","probe")
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_maintenance" (
	"id" serial PRIMARY KEY NOT NULL,
	"node" text,
	"starts_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"reason" text,
	"announced_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_observers" (
	"observer" text PRIMARY KEY NOT NULL,
	"holder" text,
	"lease_until" timestamp with time zone,
	"heartbeat_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_probes" (
	"observer" text NOT NULL,
	"node" text NOT NULL,
	"probe" text NOT NULL,
	"probes" bigint NOT NULL,
	"probed_at" timestamp with time zone NOT NULL,
	"suspect" jsonb,
	"hour" timestamp with time zone,
	"entries" "bytea",
	CONSTRAINT "health_probes_observer_node_probe_pk" PRIMARY KEY("observer","node","probe")
);
--> statement-breakpoint
DROP INDEX "recorder"."node_health_key";--> statement-breakpoint
ALTER TABLE "recorder"."node_health" ALTER COLUMN "ended_at" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."node_health" ALTER COLUMN "probes" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."node_health" ADD COLUMN "reported" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."node_health" ADD COLUMN "probes_before" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "health_maintenance_by_end" ON "recorder"."health_maintenance" USING btree ("ends_at");--> statement-breakpoint
CREATE UNIQUE INDEX "node_health_now" ON "recorder"."node_health" USING btree (observer, node, probe, check_name) WHERE ended_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "node_health_key" ON "recorder"."node_health" USING btree (observer, node, probe, check_name, started_at);--> statement-breakpoint
ALTER TABLE "recorder"."node_health" DROP COLUMN "id";--> statement-breakpoint
ALTER TABLE "recorder"."node_health" DROP COLUMN "run_id";--> statement-breakpoint
-- Rows that are written at every look leave room for their next version; packed histograms are always compressed.
ALTER TABLE "recorder"."health_probes" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "recorder"."health_latency" SET (toast_tuple_target = 128);--> statement-breakpoint
ALTER TABLE "recorder"."health_latency" ALTER COLUMN "entries" SET STORAGE MAIN;
