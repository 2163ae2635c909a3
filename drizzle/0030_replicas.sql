CREATE TABLE "recorder"."replicas" (
	"recorder" text NOT NULL,
	"place" text NOT NULL,
	"lag_seconds" double precision,
	"lag_bytes" bigint,
	"trouble" text,
	"trouble_since" timestamp with time zone,
	"behind_since" timestamp with time zone,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "replicas_recorder_place_pk" PRIMARY KEY("recorder","place")
);
