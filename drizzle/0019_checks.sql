CREATE TABLE "recorder"."check_runs" (
	"scope" text PRIMARY KEY NOT NULL,
	"checked_at" timestamp with time zone,
	"took_ms" integer,
	"failed_since" timestamp with time zone,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "recorder"."discrepancies" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"check_name" text NOT NULL,
	"dataset" text NOT NULL,
	"subject" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"left_source" text NOT NULL,
	"left_value" text NOT NULL,
	"right_source" text NOT NULL,
	"right_value" text NOT NULL,
	"tolerance" text NOT NULL,
	"found_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recorder"."series_breaks" (
	"chain_id" text NOT NULL,
	"metric" text NOT NULL,
	"broke_at" timestamp with time zone NOT NULL,
	"level_before" numeric NOT NULL,
	"level_after" numeric NOT NULL,
	"strength" numeric NOT NULL,
	"found_at" timestamp with time zone NOT NULL,
	CONSTRAINT "series_breaks_chain_id_metric_broke_at_pk" PRIMARY KEY("chain_id","metric","broke_at")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "discrepancies_once" ON "recorder"."discrepancies" USING btree ("check_name","subject","at");--> statement-breakpoint
CREATE INDEX "discrepancies_open" ON "recorder"."discrepancies" USING btree ("ended_at");