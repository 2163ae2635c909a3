CREATE TABLE "recorder"."incident_notes" (
	"id" serial PRIMARY KEY NOT NULL,
	"node" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"author" text NOT NULL,
	"note" text NOT NULL,
	"written_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "incident_notes_by_node" ON "recorder"."incident_notes" USING btree ("node","at");