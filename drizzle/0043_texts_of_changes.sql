ALTER TABLE "recorder"."changes" ADD COLUMN "texts" text[];--> statement-breakpoint
ALTER TABLE "recorder"."changes" ALTER COLUMN "texts" SET STORAGE EXTERNAL;
