CREATE TABLE "recorder"."seal_changes" (
	"id" serial PRIMARY KEY NOT NULL,
	"dataset" text NOT NULL,
	"kind" text NOT NULL,
	"reason" text NOT NULL,
	"before_at" timestamp with time zone,
	"declared_at" timestamp with time zone NOT NULL,
	"seal" integer
);
--> statement-breakpoint
CREATE TABLE "recorder"."seal_datasets" (
	"dataset" text NOT NULL,
	"seal" integer NOT NULL,
	"form" text NOT NULL,
	"rows" bigint NOT NULL,
	"ends" bigint NOT NULL,
	"late" bigint NOT NULL,
	"changes" text[] NOT NULL,
	"root" text NOT NULL,
	"before" text,
	"head" text NOT NULL,
	CONSTRAINT "seal_datasets_dataset_seal_pk" PRIMARY KEY("dataset","seal")
);
--> statement-breakpoint
CREATE TABLE "recorder"."seal_forms" (
	"form" text PRIMARY KEY NOT NULL,
	"definition" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."seal_parts" (
	"dataset" text NOT NULL,
	"day" date NOT NULL,
	"kind" text NOT NULL,
	"seal" integer NOT NULL,
	"part" integer NOT NULL,
	"instants" timestamp with time zone[] NOT NULL,
	"tags" "bytea" NOT NULL,
	"node" "bytea" NOT NULL,
	CONSTRAINT "seal_parts_dataset_day_kind_seal_part_pk" PRIMARY KEY("dataset","day","kind","seal","part")
);
--> statement-breakpoint
CREATE TABLE "recorder"."seals" (
	"seal" integer PRIMARY KEY NOT NULL,
	"until" timestamp with time zone NOT NULL,
	"began_at" timestamp with time zone NOT NULL,
	"open" jsonb NOT NULL,
	"made_at" timestamp with time zone,
	"statement" text,
	"head" text,
	"signature" "bytea",
	"public_key" text,
	"error" text
);
