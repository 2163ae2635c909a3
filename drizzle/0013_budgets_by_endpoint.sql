-- Which URL the rows are about is not known. A block lasts an hour at most, a count a day: they are left behind.
DELETE FROM "recorder"."budgets";--> statement-breakpoint
ALTER TABLE "recorder"."budgets" ADD COLUMN "endpoint" text NOT NULL;--> statement-breakpoint
ALTER TABLE "recorder"."budgets" DROP CONSTRAINT "budgets_pkey";--> statement-breakpoint
ALTER TABLE "recorder"."budgets" ADD CONSTRAINT "budgets_upstream_endpoint_pk" PRIMARY KEY("upstream","endpoint");
