CREATE TABLE "recorder"."displaced_objects" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"object" text NOT NULL,
	"kind" text NOT NULL,
	"owner" text NOT NULL,
	"script" text NOT NULL,
	"reason" text NOT NULL,
	"displaced_at" timestamp with time zone DEFAULT now() NOT NULL
);
