CREATE TABLE "recorder"."exports" (
	"recorder" text NOT NULL,
	"place" text NOT NULL,
	"datasets" text[],
	"format" text NOT NULL,
	"every_ms" bigint NOT NULL,
	"wanted_at" timestamp with time zone NOT NULL,
	"began_at" timestamp with time zone,
	"last_success_at" timestamp with time zone,
	"exported_at" timestamp with time zone,
	"last_failure_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"error" text,
	"export" integer,
	"rows" bigint,
	"bytes" bigint,
	CONSTRAINT "exports_recorder_place_pk" PRIMARY KEY("recorder","place")
);
