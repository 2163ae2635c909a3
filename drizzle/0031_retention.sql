CREATE TABLE "recorder"."retention" (
	"dataset" text PRIMARY KEY NOT NULL,
	"kept_since" timestamp with time zone NOT NULL,
	"moved_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"removed" bigint DEFAULT 0 NOT NULL,
	"removed_at" timestamp with time zone
);
