CREATE TABLE "recorder"."alert_channels" (
	"recorder" text NOT NULL,
	"channel" text NOT NULL,
	"holder" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"error" text,
	"next_try_at" timestamp with time zone,
	"sent_at" timestamp with time zone,
	"refreshed_at" timestamp with time zone,
	CONSTRAINT "alert_channels_recorder_channel_pk" PRIMARY KEY("recorder","channel")
);
--> statement-breakpoint
CREATE TABLE "recorder"."alert_messages" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"recorder" text NOT NULL,
	"channel" text NOT NULL,
	"rule" text NOT NULL,
	"kind" text NOT NULL,
	"severity" text NOT NULL,
	"alerts" bigint[] NOT NULL,
	"body" jsonb NOT NULL,
	"made_at" timestamp with time zone NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"sending_since" timestamp with time zone,
	"sent_at" timestamp with time zone,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "recorder"."alert_rounds" (
	"recorder" text PRIMARY KEY NOT NULL,
	"round" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"every_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."alert_rules" (
	"recorder" text NOT NULL,
	"rule" text NOT NULL,
	"asked_at" timestamp with time zone,
	"failed_since" timestamp with time zone,
	"error" text,
	CONSTRAINT "alert_rules_recorder_rule_pk" PRIMARY KEY("recorder","rule")
);
--> statement-breakpoint
CREATE TABLE "recorder"."alerts" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"recorder" text NOT NULL,
	"rule" text NOT NULL,
	"subject" text NOT NULL,
	"severity" text NOT NULL,
	"state" text NOT NULL,
	"summary" text NOT NULL,
	"details" jsonb,
	"since" timestamp with time zone,
	"began_at" timestamp with time zone NOT NULL,
	"fired_at" timestamp with time zone,
	"resolved_at" timestamp with time zone,
	"flapping" boolean DEFAULT false NOT NULL,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by" text,
	"note" text,
	"held_ms" bigint DEFAULT 0 NOT NULL,
	"absent_ms" bigint DEFAULT 0 NOT NULL,
	"untold_ms" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX "alert_messages_waiting" ON "recorder"."alert_messages" USING btree ("recorder","channel","id") WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX "alert_messages_lost" ON "recorder"."alert_messages" USING btree ("made_at") WHERE state in ('refused', 'dropped');--> statement-breakpoint
CREATE UNIQUE INDEX "alerts_open" ON "recorder"."alerts" USING btree ("recorder","rule","subject") WHERE state <> 'resolved';--> statement-breakpoint
CREATE INDEX "alerts_by_end" ON "recorder"."alerts" USING btree ("resolved_at");