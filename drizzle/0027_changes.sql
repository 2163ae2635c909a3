CREATE TABLE "recorder"."change_sinks" (
	"recorder" text NOT NULL,
	"sink" text NOT NULL,
	"cursor" text,
	"commit_number" bigint,
	"sent" bigint DEFAULT 0 NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp with time zone,
	"holder" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"error" text,
	"next_try_at" timestamp with time zone,
	CONSTRAINT "change_sinks_recorder_sink_pk" PRIMARY KEY("recorder","sink")
);
--> statement-breakpoint
CREATE TABLE "recorder"."changes" (
	"commit_number" bigserial PRIMARY KEY NOT NULL,
	"dataset" text NOT NULL,
	"run_id" bigint,
	"recorded_at" timestamp with time zone NOT NULL,
	"made_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"changes" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"request" text[] NOT NULL,
	"kinds" text,
	"keys" text[],
	"scope_id" integer,
	"present" bit varying,
	"turns" jsonb
);
--> statement-breakpoint
CREATE INDEX "changes_by_dataset" ON "recorder"."changes" USING btree ("dataset","commit_number");