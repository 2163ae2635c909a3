CREATE TABLE "recorder"."reading_days" (
	"scope_id" integer NOT NULL,
	"chunk" integer NOT NULL,
	"day" date NOT NULL,
	"looks" integer NOT NULL,
	"base" bigint[] NOT NULL,
	"slope" integer[],
	"mode" smallint[] NOT NULL,
	"start" integer[] NOT NULL,
	"present" bit varying,
	"bits" bit varying NOT NULL,
	"sums" numeric[] NOT NULL,
	"told" integer[] NOT NULL,
	CONSTRAINT "reading_days_scope_id_chunk_day_pk" PRIMARY KEY("scope_id","chunk","day")
);
--> statement-breakpoint
CREATE TABLE "recorder"."reading_kept" (
	"scope_id" integer NOT NULL,
	"day" date NOT NULL,
	"rows" bigint NOT NULL,
	CONSTRAINT "reading_kept_scope_id_day_pk" PRIMARY KEY("scope_id","day")
);
--> statement-breakpoint
CREATE TABLE "recorder"."reading_looks" (
	"dataset" "regclass" NOT NULL,
	"scope_id" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	"day" date NOT NULL,
	"place" integer NOT NULL,
	CONSTRAINT "reading_looks_scope_id_day_place_pk" PRIMARY KEY("scope_id","day","place")
);
--> statement-breakpoint
CREATE TABLE "recorder"."reading_members" (
	"scope_id" integer NOT NULL,
	"chunk" integer NOT NULL,
	"seat" smallint NOT NULL,
	"words" text[] NOT NULL,
	CONSTRAINT "reading_members_scope_id_chunk_seat_pk" PRIMARY KEY("scope_id","chunk","seat")
);
--> statement-breakpoint
CREATE TABLE "recorder"."reading_open" (
	"dataset" "regclass" NOT NULL,
	"scope_id" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	"base" bigint[] NOT NULL,
	"mode" smallint[] NOT NULL,
	"start" integer[] NOT NULL,
	"present" bit varying NOT NULL,
	"bits" bit varying NOT NULL,
	CONSTRAINT "reading_open_scope_id_observed_at_pk" PRIMARY KEY("scope_id","observed_at")
);
--> statement-breakpoint
CREATE TABLE "recorder"."reading_scopes" (
	"scope_id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "recorder"."reading_scopes_scope_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"dataset" "regclass" NOT NULL,
	"request" text[] NOT NULL,
	"next_member" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
DROP INDEX "recorder"."native_balance_values_observed";--> statement-breakpoint
DROP INDEX "recorder"."pending_reward_progress_observed";--> statement-breakpoint
DROP INDEX "recorder"."chain_heights_observed";--> statement-breakpoint
DROP INDEX "recorder"."current_supply_observed";--> statement-breakpoint
DROP INDEX "recorder"."node_uptime_view_observed";--> statement-breakpoint
DROP INDEX "recorder"."peer_readings_observed";--> statement-breakpoint
DROP INDEX "recorder"."validator_uptime_observed";--> statement-breakpoint
CREATE INDEX "reading_days_day" ON "recorder"."reading_days" USING btree ("scope_id","day");--> statement-breakpoint
CREATE INDEX "reading_looks_observed" ON "recorder"."reading_looks" USING btree ("dataset","observed_at");--> statement-breakpoint
CREATE UNIQUE INDEX "reading_members_words" ON "recorder"."reading_members" USING btree ("scope_id","words");--> statement-breakpoint
CREATE INDEX "reading_members_first" ON "recorder"."reading_members" USING btree ((words[1]));--> statement-breakpoint
CREATE INDEX "reading_open_observed" ON "recorder"."reading_open" USING btree ("dataset","observed_at");--> statement-breakpoint
CREATE UNIQUE INDEX "reading_scopes_request" ON "recorder"."reading_scopes" USING btree ("dataset","request");--> statement-breakpoint
CREATE INDEX "native_balance_values_read" ON "recorder"."native_balance_values" USING btree (observed_at);--> statement-breakpoint
CREATE INDEX "pending_reward_progress_read" ON "recorder"."pending_reward_progress" USING btree (observed_at);--> statement-breakpoint
CREATE INDEX "chain_heights_read" ON "recorder"."chain_heights" USING btree (observed_at);--> statement-breakpoint
CREATE INDEX "current_supply_read" ON "recorder"."current_supply" USING btree (observed_at);--> statement-breakpoint
CREATE INDEX "node_uptime_view_read" ON "recorder"."node_uptime_view" USING btree (observed_at);--> statement-breakpoint
CREATE INDEX "peer_readings_read" ON "recorder"."peer_readings" USING btree (observed_at);--> statement-breakpoint
CREATE INDEX "validator_uptime_read" ON "recorder"."validator_uptime" USING btree (observed_at);--> statement-breakpoint
-- Bits do not compress, and a row that stays in one piece is read without a second table.
ALTER TABLE "recorder"."reading_days" ALTER COLUMN "bits" SET STORAGE EXTERNAL, ALTER COLUMN "present" SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160);--> statement-breakpoint
ALTER TABLE "recorder"."reading_open" ALTER COLUMN "bits" SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160);
