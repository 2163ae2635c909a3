CREATE TABLE "recorder"."queues" (
	"recorder" text NOT NULL,
	"queue" text NOT NULL,
	"waiting" bigint,
	"active" bigint,
	"trouble" text,
	"trouble_since" timestamp with time zone,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "queues_recorder_queue_pk" PRIMARY KEY("recorder","queue")
);
