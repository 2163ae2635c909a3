CREATE SCHEMA "recorder";
--> statement-breakpoint
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
	"evaluated_at" timestamp with time zone,
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
	"reported_ms" bigint DEFAULT 0 NOT NULL,
	"absent_ms" bigint DEFAULT 0 NOT NULL,
	"since_notice_ms" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."budgets" (
	"upstream" text NOT NULL,
	"endpoint" text NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	"minute_units" bigint NOT NULL,
	"day" date NOT NULL,
	"day_units" bigint NOT NULL,
	"blocked_until" timestamp with time zone,
	"blocked_by" text,
	CONSTRAINT "budgets_upstream_endpoint_pk" PRIMARY KEY("upstream","endpoint")
);
--> statement-breakpoint
CREATE TABLE "recorder"."coverage" (
	"dataset" text NOT NULL,
	"target_key" text NOT NULL,
	"axis" text NOT NULL,
	"covered" "int8multirange" NOT NULL,
	"answered" "int8multirange",
	CONSTRAINT "coverage_dataset_target_key_pk" PRIMARY KEY("dataset","target_key")
);
--> statement-breakpoint
CREATE TABLE "recorder"."gaps" (
	"dataset" text NOT NULL,
	"target_key" text NOT NULL,
	"axis" text NOT NULL,
	"range" "int8range" NOT NULL,
	"reason" text NOT NULL,
	"noticed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "gaps_dataset_target_key_range_pk" PRIMARY KEY("dataset","target_key","range")
);
--> statement-breakpoint
CREATE TABLE "recorder"."own_objects" (
	"name" text PRIMARY KEY NOT NULL,
	"statement" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."quarantine" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"dataset" text NOT NULL,
	"target_key" text NOT NULL,
	"digest" text NOT NULL,
	"run_id" bigint NOT NULL,
	"quarantined_at" timestamp with time zone NOT NULL,
	"last_seen" timestamp with time zone NOT NULL,
	"times" bigint DEFAULT 1 NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"reason" text NOT NULL,
	"item" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."reporting_objects" (
	"name" text PRIMARY KEY NOT NULL,
	"definition" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."retention" (
	"dataset" text PRIMARY KEY NOT NULL,
	"kept_since" timestamp with time zone NOT NULL,
	"moved_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"removed" bigint DEFAULT 0 NOT NULL,
	"removed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recorder"."run_days" (
	"span" text NOT NULL,
	"starts_on" date NOT NULL,
	"dataset" text NOT NULL,
	"target_key" text NOT NULL,
	"reason" text NOT NULL,
	"runs" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"lost" bigint NOT NULL,
	"pages" bigint NOT NULL,
	"items" bigint NOT NULL,
	"rows_written" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"budget_units" bigint NOT NULL,
	"quarantined" bigint NOT NULL,
	CONSTRAINT "run_days_span_starts_on_dataset_target_key_reason_pk" PRIMARY KEY("span","starts_on","dataset","target_key","reason")
);
--> statement-breakpoint
CREATE TABLE "recorder"."runs" (
	"run_id" bigserial PRIMARY KEY NOT NULL,
	"source" text NOT NULL,
	"target_key" text NOT NULL,
	"datasets" text[] NOT NULL,
	"reason" text NOT NULL,
	"status" text NOT NULL,
	"worker" text NOT NULL,
	"axis" text,
	"window_from" bigint,
	"window_to" bigint,
	"started_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"pages" integer DEFAULT 0 NOT NULL,
	"items" bigint[] NOT NULL,
	"rows_written" bigint[] NOT NULL,
	"quarantined" bigint DEFAULT 0 NOT NULL,
	"requests" integer DEFAULT 0 NOT NULL,
	"budget_units" bigint DEFAULT 0 NOT NULL,
	"note" text,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "recorder"."schedules" (
	"schedule" text PRIMARY KEY NOT NULL,
	"recorder" text DEFAULT 'recorder' NOT NULL,
	"every_ms" bigint NOT NULL,
	"next_at" timestamp with time zone,
	"missing_since" timestamp with time zone,
	"seen_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."target_datasets" (
	"source" text NOT NULL,
	"target_key" text NOT NULL,
	"dataset" text NOT NULL,
	"every_ms" bigint NOT NULL,
	"once" boolean DEFAULT false NOT NULL,
	"active" boolean NOT NULL,
	"left_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"requested_since" timestamp with time zone NOT NULL,
	"expected_from" bigint,
	"first_success_at" timestamp with time zone,
	"last_success_at" timestamp with time zone,
	"last_planned_at" timestamp with time zone,
	"last_complete_at" timestamp with time zone,
	"incomplete_since" timestamp with time zone,
	"incomplete_reason" text,
	"unconfirmed_departures" integer DEFAULT 0 NOT NULL,
	"last_failure_at" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"items" bigint DEFAULT 0 NOT NULL,
	"rows_written" bigint DEFAULT 0 NOT NULL,
	"rows_day" date,
	"rows_today" bigint DEFAULT 0 NOT NULL,
	"unsupported_reason" text,
	CONSTRAINT "target_datasets_source_target_key_dataset_pk" PRIMARY KEY("source","target_key","dataset")
);
--> statement-breakpoint
CREATE TABLE "recorder"."targets" (
	"source" text NOT NULL,
	"target_key" text NOT NULL,
	"target" jsonb NOT NULL,
	"recorder" text,
	"run_id" bigint,
	"lease_until" timestamp with time zone,
	"poll_requests" integer,
	"max_requests" integer,
	"poll_from" bigint,
	"poll_to" bigint,
	"shown_from" bigint,
	"index_name" text,
	"newest_item_at" timestamp with time zone,
	"usual_interval_ms" bigint,
	"longest_interval_ms" bigint,
	"failed_sweeps" "int8multirange",
	CONSTRAINT "targets_source_target_key_pk" PRIMARY KEY("source","target_key")
);
--> statement-breakpoint
CREATE TABLE "recorder"."change_sinks" (
	"recorder" text NOT NULL,
	"sink" text NOT NULL,
	"cursor" text,
	"commit_number" bigint,
	"sent" bigint DEFAULT 0 NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	"sent_at" timestamp with time zone,
	"holder" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"error" text,
	"next_try_at" timestamp with time zone,
	CONSTRAINT "change_sinks_recorder_sink_pk" PRIMARY KEY("recorder","sink")
);
--> statement-breakpoint
CREATE TABLE "recorder"."changes" (
	"commit_number" bigserial PRIMARY KEY NOT NULL,
	"dataset" text NOT NULL,
	"run_id" bigint,
	"recorded_at" timestamp with time zone NOT NULL,
	"made_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"changes" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"request" text[] NOT NULL,
	"kinds" text,
	"texts" text[],
	"keys" text[],
	"scope_id" integer,
	"present" bit varying,
	"turns" jsonb
);
--> statement-breakpoint
CREATE TABLE "recorder"."check_runs" (
	"scope" text PRIMARY KEY NOT NULL,
	"checked_at" timestamp with time zone,
	"duration_ms" integer,
	"failed_since" timestamp with time zone,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "recorder"."contradictions" (
	"dataset" text NOT NULL,
	"entity" text[] NOT NULL,
	CONSTRAINT "contradictions_dataset_entity_pk" PRIMARY KEY("dataset","entity")
);
--> statement-breakpoint
CREATE TABLE "recorder"."contradictions_noted" (
	"dataset" text PRIMARY KEY NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."discrepancies" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"check_name" text NOT NULL,
	"dataset" text NOT NULL,
	"subject" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"left_source" text NOT NULL,
	"left_value" text NOT NULL,
	"right_source" text NOT NULL,
	"right_value" text NOT NULL,
	"tolerance" text NOT NULL,
	"found_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recorder"."metric_settling" (
	"metric" text NOT NULL,
	"time_interval" text NOT NULL,
	"revisions" bigint NOT NULL,
	"points_revised" bigint NOT NULL,
	"half_moved_within" interval NOT NULL,
	"settled_within" interval NOT NULL,
	"latest_move" interval NOT NULL,
	"measured_at" timestamp with time zone NOT NULL,
	CONSTRAINT "metric_settling_metric_time_interval_pk" PRIMARY KEY("metric","time_interval")
);
--> statement-breakpoint
CREATE TABLE "recorder"."series_breaks" (
	"chain_id" text NOT NULL,
	"metric" text NOT NULL,
	"broke_at" timestamp with time zone NOT NULL,
	"level_before" numeric NOT NULL,
	"level_after" numeric NOT NULL,
	"strength" numeric NOT NULL,
	"found_at" timestamp with time zone NOT NULL,
	CONSTRAINT "series_breaks_chain_id_metric_broke_at_pk" PRIMARY KEY("chain_id","metric","broke_at")
);
--> statement-breakpoint
CREATE TABLE "recorder"."exports" (
	"recorder" text NOT NULL,
	"destination" text NOT NULL,
	"datasets" text[],
	"format" text NOT NULL,
	"every_ms" bigint NOT NULL,
	"requested_since" timestamp with time zone NOT NULL,
	"began_at" timestamp with time zone,
	"last_success_at" timestamp with time zone,
	"exported_at" timestamp with time zone,
	"last_failure_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"error" text,
	"export" integer,
	"rows" bigint,
	"bytes" bigint,
	CONSTRAINT "exports_recorder_destination_pk" PRIMARY KEY("recorder","destination")
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_absences" (
	"observer" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone NOT NULL,
	"reason" text NOT NULL,
	"probe_counts" jsonb,
	CONSTRAINT "health_absences_observer_started_at_pk" PRIMARY KEY("observer","started_at")
);
--> statement-breakpoint
CREATE TABLE "recorder"."node_health" (
	"observer" text NOT NULL,
	"node" text NOT NULL,
	"probe" text NOT NULL,
	"check_name" text NOT NULL,
	"state" text NOT NULL,
	"error" text,
	"message" jsonb,
	"extra" jsonb,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"reported" boolean DEFAULT true NOT NULL,
	"probes_before" bigint DEFAULT 0 NOT NULL,
	"probes" bigint,
	"failing_since" timestamp with time zone,
	"failures" bigint,
	"last_error" text,
	"last_message" jsonb
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_latency" (
	"observer" text NOT NULL,
	"node" text NOT NULL,
	"probe" text NOT NULL,
	"span" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"entries" "bytea" NOT NULL,
	CONSTRAINT "health_latency_span_starts_at_observer_node_probe_pk" PRIMARY KEY("span","starts_at","observer","node","probe")
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_maintenance" (
	"id" serial PRIMARY KEY NOT NULL,
	"node" text,
	"starts_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"reason" text,
	"announced_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_observers" (
	"observer" text PRIMARY KEY NOT NULL,
	"holder" text,
	"lease_until" timestamp with time zone,
	"heartbeat_at" timestamp with time zone,
	"refused" jsonb
);
--> statement-breakpoint
CREATE TABLE "recorder"."health_probes" (
	"observer" text NOT NULL,
	"node" text NOT NULL,
	"probe" text NOT NULL,
	"probes" bigint NOT NULL,
	"probed_at" timestamp with time zone NOT NULL,
	"suspect" jsonb,
	"latest" jsonb,
	"hour" timestamp with time zone,
	"entries" "bytea",
	CONSTRAINT "health_probes_observer_node_probe_pk" PRIMARY KEY("observer","node","probe")
);
--> statement-breakpoint
CREATE TABLE "recorder"."incident_notes" (
	"id" serial PRIMARY KEY NOT NULL,
	"node" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"author" text NOT NULL,
	"note" text NOT NULL,
	"written_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."node_bindings" (
	"node" text PRIMARY KEY NOT NULL,
	"node_id" text,
	"network_id" bigint,
	"genesis_id" text,
	"bound_by" text NOT NULL,
	"bound_at" timestamp with time zone NOT NULL,
	"verified_at" timestamp with time zone,
	"difference" text,
	"differs_since" timestamp with time zone,
	"differs_at" timestamp with time zone,
	"differs_where" text
);
--> statement-breakpoint
CREATE TABLE "recorder"."configurations" (
	"recorder" text NOT NULL,
	"digest" text NOT NULL,
	"network" text NOT NULL,
	"generation" bigint NOT NULL,
	"newest" boolean NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "configurations_recorder_digest_pk" PRIMARY KEY("recorder","digest")
);
--> statement-breakpoint
CREATE TABLE "recorder"."processes" (
	"process" text PRIMARY KEY NOT NULL,
	"recorder" text NOT NULL,
	"digest" text NOT NULL,
	"roles" text[] NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"left_at" timestamp with time zone,
	"connections_full_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recorder"."queues" (
	"recorder" text NOT NULL,
	"queue" text NOT NULL,
	"waiting" bigint,
	"active" bigint,
	"error" text,
	"error_since" timestamp with time zone,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "queues_recorder_queue_pk" PRIMARY KEY("recorder","queue")
);
--> statement-breakpoint
CREATE TABLE "recorder"."replicas" (
	"recorder" text NOT NULL,
	"replica" text NOT NULL,
	"lag_seconds" double precision,
	"lag_bytes" bigint,
	"error" text,
	"error_since" timestamp with time zone,
	"behind_since" timestamp with time zone,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "replicas_recorder_replica_pk" PRIMARY KEY("recorder","replica")
);
--> statement-breakpoint
CREATE TABLE "recorder"."reading_days" (
	"scope_id" integer NOT NULL,
	"chunk" integer NOT NULL,
	"day" date NOT NULL,
	"observation_count" integer NOT NULL,
	"base" bigint[] NOT NULL,
	"slope" integer[],
	"mode" smallint[] NOT NULL,
	"start" integer[] NOT NULL,
	"present" bit varying,
	"bits" bit varying NOT NULL,
	"sums" numeric[] NOT NULL,
	"value_counts" integer[] NOT NULL,
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
CREATE TABLE "recorder"."reading_members" (
	"scope_id" integer NOT NULL,
	"chunk" integer NOT NULL,
	"seat" smallint NOT NULL,
	"texts" text[] NOT NULL,
	"retired_at" timestamp with time zone,
	CONSTRAINT "reading_members_scope_id_chunk_seat_pk" PRIMARY KEY("scope_id","chunk","seat"),
	CONSTRAINT "reading_members_texts" UNIQUE NULLS NOT DISTINCT("scope_id","texts","retired_at")
);
--> statement-breakpoint
CREATE TABLE "recorder"."reading_observations" (
	"scope_id" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	"day" date NOT NULL,
	"ordinal" integer NOT NULL
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
--> statement-breakpoint
CREATE TABLE "recorder"."aggregated_signatures" (
	"network" text NOT NULL,
	"request" text NOT NULL,
	"signed_message" text NOT NULL,
	"tx_hash" text,
	"message" text,
	"justification" text,
	"signing_subnet_id" text,
	"quorum_percentage" bigint,
	"quorum_percentage_buffer" bigint,
	"p_chain_height" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."blockchains" (
	"network" text NOT NULL,
	"blockchain_id" text NOT NULL,
	"blockchain_name" text,
	"subnet_id" text,
	"vm_id" text,
	"evm_chain_id" numeric,
	"create_block_timestamp" timestamp with time zone,
	"create_block_number" numeric,
	"genesis_hash" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."deployed_contracts" (
	"chain_id" text NOT NULL,
	"deployer" text NOT NULL,
	"address" text NOT NULL,
	"erc_type" text,
	"name" text,
	"symbol" text,
	"decimals" bigint,
	"description" text,
	"official_site" text,
	"email" text,
	"logo_asset_asset_id" text,
	"logo_asset_image_uri" text,
	"banner_asset_asset_id" text,
	"banner_asset_image_uri" text,
	"color" text,
	"resource_links" jsonb,
	"tags" jsonb,
	"deployment_details_tx_hash" text,
	"deployment_details_deployer_address" text,
	"deployment_details_deployer_contract_address" text,
	"pricing_providers_coingecko_coin_id" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."deployment_transactions" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"tx_hash" text NOT NULL,
	"tx_status" text,
	"tx_type" bigint,
	"block_number" numeric NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_timestamp_milliseconds" timestamp with time zone,
	"block_min_delay_excess" numeric,
	"block_hash" text,
	"block_index" bigint,
	"from_address" text,
	"from_name" text,
	"from_symbol" text,
	"from_decimals" bigint,
	"from_logo_uri" text,
	"to_address" text,
	"to_name" text,
	"to_symbol" text,
	"to_decimals" bigint,
	"to_logo_uri" text,
	"method_call_type" text,
	"method_hash" text,
	"method_name" text,
	"value" numeric,
	"gas_limit" numeric,
	"gas_used" numeric,
	"gas_price" numeric,
	"nonce" numeric,
	"input" text,
	"base_fee_per_gas" numeric,
	"max_fee_per_gas" numeric,
	"max_priority_fee_per_gas" numeric,
	"erc20_transfers" jsonb,
	"erc721_transfers" jsonb,
	"erc1155_transfers" jsonb,
	"internal_transactions" jsonb,
	"network_token_name" text,
	"network_token_symbol" text,
	"network_token_decimals" numeric,
	"network_token_logo_uri" text,
	"network_token_description" text,
	"network_token_details_current_price_currency_code" text,
	"network_token_details_current_price_value" numeric,
	"network_token_details_historical_price_currency_code" text,
	"network_token_details_historical_price_value" numeric,
	"teleporter_message_id" text,
	"teleporter_message_info_direction" text,
	"teleporter_message_info_source_chain_id" text,
	"teleporter_message_info_destination_chain_id" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."erc1155_balances" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"contract" text NOT NULL,
	"erc_type" text,
	"token_id" numeric NOT NULL,
	"token_uri" text,
	"metadata_index_status" text,
	"metadata_last_updated_timestamp" timestamp with time zone,
	"metadata_name" text,
	"metadata_symbol" text,
	"metadata_image_uri" text,
	"metadata_description" text,
	"metadata_animation_uri" text,
	"metadata_external_url" text,
	"metadata_background" text,
	"metadata_attributes" text,
	"metadata_decimals" bigint,
	"metadata_properties" text,
	"balance" numeric NOT NULL,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."erc1155_transfers" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"tx_hash" text NOT NULL,
	"block_number" numeric NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_timestamp_milliseconds" timestamp with time zone,
	"block_hash" text,
	"log_index" bigint NOT NULL,
	"from_address" text,
	"from_name" text,
	"from_symbol" text,
	"from_decimals" bigint,
	"from_logo_uri" text,
	"to_address" text,
	"to_name" text,
	"to_symbol" text,
	"to_decimals" bigint,
	"to_logo_uri" text,
	"value" numeric,
	"erc1155_token_address" text,
	"erc1155_token_erc_type" text,
	"token_id" numeric NOT NULL,
	"erc1155_token_token_uri" text,
	"erc1155_token_metadata_index_status" text,
	"erc1155_token_metadata_last_updated_timestamp" timestamp with time zone,
	"erc1155_token_metadata_name" text,
	"erc1155_token_metadata_symbol" text,
	"erc1155_token_metadata_image_uri" text,
	"erc1155_token_metadata_description" text,
	"erc1155_token_metadata_animation_uri" text,
	"erc1155_token_metadata_external_url" text,
	"erc1155_token_metadata_background" text,
	"erc1155_token_metadata_attributes" text,
	"erc1155_token_metadata_decimals" bigint,
	"erc1155_token_metadata_properties" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."evm_transactions" (
	"chain_id" text NOT NULL,
	"tx_hash" text NOT NULL,
	"tx_status" text,
	"tx_type" bigint,
	"block_number" numeric NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_timestamp_milliseconds" timestamp with time zone,
	"block_min_delay_excess" numeric,
	"block_hash" text,
	"block_index" bigint,
	"from_address" text,
	"from_name" text,
	"from_symbol" text,
	"from_decimals" bigint,
	"from_logo_uri" text,
	"to_address" text,
	"to_name" text,
	"to_symbol" text,
	"to_decimals" bigint,
	"to_logo_uri" text,
	"method_call_type" text,
	"method_hash" text,
	"method_name" text,
	"value" numeric,
	"gas_limit" numeric,
	"gas_used" numeric,
	"gas_price" numeric,
	"nonce" numeric,
	"input" text,
	"base_fee_per_gas" numeric,
	"max_fee_per_gas" numeric,
	"max_priority_fee_per_gas" numeric,
	"erc20_transfers" jsonb,
	"erc721_transfers" jsonb,
	"erc1155_transfers" jsonb,
	"internal_transactions" jsonb,
	"network_token_name" text,
	"network_token_symbol" text,
	"network_token_decimals" numeric,
	"network_token_logo_uri" text,
	"network_token_description" text,
	"network_token_details_current_price_currency_code" text,
	"network_token_details_current_price_value" numeric,
	"network_token_details_historical_price_currency_code" text,
	"network_token_details_historical_price_value" numeric,
	"teleporter_message_id" text,
	"teleporter_message_info_direction" text,
	"teleporter_message_info_source_chain_id" text,
	"teleporter_message_info_destination_chain_id" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."genesis_data" (
	"genesis_hash" text NOT NULL,
	"genesis_data" jsonb NOT NULL,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."native_balance_values" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"currency_code" text NOT NULL,
	"price" numeric NOT NULL,
	"balance_value_currency_code" text,
	"balance_value" numeric,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."native_balances" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"balance" numeric NOT NULL,
	"name" text,
	"symbol" text,
	"decimals" bigint,
	"logo_uri" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."native_transactions" (
	"chain_id" text NOT NULL,
	"address" text NOT NULL,
	"tx_hash" text NOT NULL,
	"tx_status" text,
	"tx_type" bigint,
	"block_number" numeric NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_timestamp_milliseconds" timestamp with time zone,
	"block_min_delay_excess" numeric,
	"block_hash" text,
	"block_index" bigint,
	"from_address" text,
	"from_name" text,
	"from_symbol" text,
	"from_decimals" bigint,
	"from_logo_uri" text,
	"to_address" text,
	"to_name" text,
	"to_symbol" text,
	"to_decimals" bigint,
	"to_logo_uri" text,
	"method_call_type" text,
	"method_hash" text,
	"method_name" text,
	"value" numeric,
	"gas_limit" numeric,
	"gas_used" numeric,
	"gas_price" numeric,
	"nonce" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."nft_tokens" (
	"chain_id" text NOT NULL,
	"collection" text NOT NULL,
	"token_id" numeric NOT NULL,
	"erc_type" text,
	"name" text,
	"symbol" text,
	"token_uri" text,
	"owner_address" text,
	"metadata_index_status" text,
	"metadata_last_updated_timestamp" timestamp with time zone,
	"metadata_name" text,
	"metadata_symbol" text,
	"metadata_image_uri" text,
	"metadata_description" text,
	"metadata_animation_uri" text,
	"metadata_external_url" text,
	"metadata_background" text,
	"metadata_attributes" text,
	"metadata_decimals" bigint,
	"metadata_properties" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."pending_reward_progress" (
	"network" text NOT NULL,
	"tx_hash" text NOT NULL,
	"reward_type" text NOT NULL,
	"progress" numeric NOT NULL,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."pending_rewards" (
	"network" text NOT NULL,
	"tx_hash" text NOT NULL,
	"reward_type" text NOT NULL,
	"node_id" text,
	"addresses" jsonb,
	"amount_staked" numeric,
	"start_timestamp" timestamp with time zone,
	"end_timestamp" timestamp with time zone,
	"estimated_reward_asset_id" text,
	"estimated_reward_name" text,
	"estimated_reward_symbol" text,
	"estimated_reward_denomination" bigint,
	"estimated_reward_type" text,
	"estimated_reward_amount" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."primary_balances" (
	"network" text NOT NULL,
	"blockchain_id" text NOT NULL,
	"addresses" text NOT NULL,
	"balance_group" text NOT NULL,
	"asset_id" text NOT NULL,
	"shared_with_chain_id" text,
	"name" text,
	"symbol" text,
	"denomination" bigint,
	"type" text,
	"amount" numeric NOT NULL,
	"utxo_count" bigint,
	"status" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."proposed_blocks" (
	"network" text NOT NULL,
	"blockchain_id" text NOT NULL,
	"block_number" numeric NOT NULL,
	"block_hash" text NOT NULL,
	"parent_hash" text NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_type" text NOT NULL,
	"tx_count" bigint NOT NULL,
	"transactions" jsonb NOT NULL,
	"block_size_bytes" bigint NOT NULL,
	"l1_validators_accrued_fees" numeric,
	"active_l1_validators" bigint,
	"current_supply" numeric,
	"proposer_id" text,
	"proposer_parent_id" text,
	"proposer_node_id" text,
	"proposer_p_chain_height" numeric,
	"proposer_timestamp" timestamp with time zone,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."staking_transactions" (
	"network" text NOT NULL,
	"tx_hash" text NOT NULL,
	"tx_type" text NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"block_number" numeric,
	"block_hash" text,
	"node_id" text,
	"subnet_id" text,
	"start_timestamp" timestamp with time zone,
	"end_timestamp" timestamp with time zone,
	"delegation_fee_percent" numeric,
	"estimated_reward" numeric,
	"reward_tx_hash" text,
	"reward_addresses" jsonb,
	"staking_tx_hash" text,
	"source_chain" text,
	"destination_chain" text,
	"value" jsonb,
	"amount_staked" jsonb,
	"amount_burned" jsonb,
	"amount_l1_validator_balance_burned" jsonb,
	"consumed_utxos" jsonb,
	"emitted_utxos" jsonb,
	"l1_validator_details" jsonb,
	"l1_validator_manager_details_blockchain_id" text,
	"l1_validator_manager_details_contract_address" text,
	"subnet_ownership_info_locktime" timestamp with time zone,
	"subnet_ownership_info_locktime_raw" numeric,
	"subnet_ownership_info_threshold" numeric,
	"subnet_ownership_info_addresses" jsonb,
	"bls_credentials_public_key" text,
	"bls_credentials_proof_of_possession" text,
	"blockchain_info_chain_name" text,
	"blockchain_info_vm_id" text,
	"genesis_hash" text,
	"memo" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."subnets" (
	"network" text NOT NULL,
	"subnet_id" text NOT NULL,
	"create_block_timestamp" timestamp with time zone,
	"create_block_index" numeric,
	"is_l1" boolean,
	"subnet_ownership_info_locktime" timestamp with time zone,
	"subnet_ownership_info_locktime_raw" numeric,
	"subnet_ownership_info_threshold" numeric,
	"subnet_ownership_info_addresses" jsonb,
	"l1_conversion_transaction_hash" text,
	"l1_validator_manager_details_blockchain_id" text,
	"l1_validator_manager_details_contract_address" text,
	"owner_addresses" jsonb,
	"threshold" numeric,
	"locktime" timestamp with time zone,
	"locktime_raw" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."average_tps" (
	"chain_id" text NOT NULL,
	"bucket_start" timestamp with time zone NOT NULL,
	"value" numeric NOT NULL,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"vanished" boolean DEFAULT false NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."metric_points_series" (
	"series_id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "recorder"."metric_points_series_series_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"chain_id" text NOT NULL,
	"metric" text NOT NULL,
	"time_interval" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."metric_points" (
	"bucket_start" timestamp with time zone NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL,
	"series_id" integer NOT NULL,
	"vanished" boolean DEFAULT false NOT NULL,
	"value" numeric NOT NULL,
	"extra" jsonb
);
--> statement-breakpoint
CREATE TABLE "recorder"."chain_heights" (
	"node" text NOT NULL,
	"chain" text NOT NULL,
	"height" numeric NOT NULL,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."current_supply" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"supply" numeric NOT NULL,
	"height" numeric,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."fees" (
	"node" text NOT NULL,
	"tx_fee" numeric,
	"create_asset_tx_fee" numeric,
	"create_subnet_tx_fee" numeric,
	"transform_subnet_tx_fee" numeric,
	"create_blockchain_tx_fee" numeric,
	"add_primary_network_validator_fee" numeric,
	"add_primary_network_delegator_fee" numeric,
	"add_subnet_validator_fee" numeric,
	"add_subnet_delegator_fee" numeric,
	"x_tx_fee" numeric,
	"x_create_asset_tx_fee" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."node_identity" (
	"node" text NOT NULL,
	"node_id" text,
	"node_pop_public_key" text,
	"node_pop_proof_of_possession" text,
	"ip" text,
	"version" text,
	"database_version" text,
	"git_commit" text,
	"rpc_protocol_version" numeric,
	"vm_versions" jsonb,
	"network_id" numeric,
	"network_name" text,
	"vms" jsonb,
	"fxs" jsonb,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."node_reported_uptime" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"rewarding_stake_percentage" numeric NOT NULL,
	"weighted_average_percentage" numeric NOT NULL,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."p_balances" (
	"node" text NOT NULL,
	"address" text NOT NULL,
	"asset_id" text NOT NULL,
	"balance" numeric NOT NULL,
	"unlocked" numeric,
	"locked_stakeable" numeric,
	"locked_not_stakeable" numeric,
	"utxo_ids" jsonb,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."p_blockchains" (
	"node" text NOT NULL,
	"blockchain_id" text NOT NULL,
	"name" text,
	"subnet_id" text,
	"vm_id" text,
	"status" text,
	"alias" text,
	"is_bootstrapped" boolean,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."p_blocks" (
	"node" text NOT NULL,
	"height" numeric NOT NULL,
	"id" text,
	"parent_id" text,
	"time" timestamp with time zone,
	"txs" jsonb,
	"tx" jsonb,
	"bytes" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."peer_readings" (
	"node" text NOT NULL,
	"node_id" text NOT NULL,
	"subnet_id" text NOT NULL,
	"last_sent" timestamp with time zone,
	"last_received" timestamp with time zone,
	"observed_uptime" numeric,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."peers" (
	"node" text NOT NULL,
	"node_id" text NOT NULL,
	"ip" text,
	"public_ip" text,
	"version" text,
	"upgrade_time" timestamp with time zone,
	"tracked_subnets" jsonb,
	"supported_acps" jsonb,
	"objected_acps" jsonb,
	"benched" jsonb,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."proposals" (
	"node" text NOT NULL,
	"proposal" bigint NOT NULL,
	"support_weight" numeric,
	"supporters" jsonb,
	"object_weight" numeric,
	"objectors" jsonb,
	"abstain_weight" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."upgrades" (
	"node" text NOT NULL,
	"apricot_phase1_time" timestamp with time zone,
	"apricot_phase2_time" timestamp with time zone,
	"apricot_phase3_time" timestamp with time zone,
	"apricot_phase4_time" timestamp with time zone,
	"apricot_phase4_min_p_chain_height" numeric,
	"apricot_phase5_time" timestamp with time zone,
	"apricot_phase_pre6_time" timestamp with time zone,
	"apricot_phase6_time" timestamp with time zone,
	"apricot_phase_post6_time" timestamp with time zone,
	"banff_time" timestamp with time zone,
	"cortina_time" timestamp with time zone,
	"cortina_x_chain_stop_vertex_id" text,
	"durango_time" timestamp with time zone,
	"etna_time" timestamp with time zone,
	"fortuna_time" timestamp with time zone,
	"granite_time" timestamp with time zone,
	"granite_epoch_duration" numeric,
	"helicon_time" timestamp with time zone,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."validator_delegators" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"node_id" text NOT NULL,
	"tx_id" text NOT NULL,
	"start_time" timestamp with time zone NOT NULL,
	"end_time" timestamp with time zone,
	"weight" numeric NOT NULL,
	"stake_navax" numeric,
	"reward_owner_locktime" timestamp with time zone,
	"reward_owner_locktime_raw" numeric,
	"reward_owner_threshold" numeric,
	"reward_owner_addresses" jsonb,
	"potential_reward" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."validator_uptime" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"node_id" text NOT NULL,
	"uptime" numeric,
	"connected" boolean,
	"extra" jsonb,
	"observed_at" timestamp with time zone NOT NULL,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."validators" (
	"node" text NOT NULL,
	"subnet_id" text NOT NULL,
	"node_id" text NOT NULL,
	"start_time" timestamp with time zone NOT NULL,
	"tx_id" text,
	"validation_id" text,
	"end_time" timestamp with time zone,
	"weight" numeric NOT NULL,
	"stake_navax" numeric,
	"public_key" text,
	"remaining_balance_owner_locktime" timestamp with time zone,
	"remaining_balance_owner_locktime_raw" numeric,
	"remaining_balance_owner_threshold" numeric,
	"remaining_balance_owner_addresses" jsonb,
	"deactivation_owner_locktime" timestamp with time zone,
	"deactivation_owner_locktime_raw" numeric,
	"deactivation_owner_threshold" numeric,
	"deactivation_owner_addresses" jsonb,
	"validation_reward_owner_locktime" timestamp with time zone,
	"validation_reward_owner_locktime_raw" numeric,
	"validation_reward_owner_threshold" numeric,
	"validation_reward_owner_addresses" jsonb,
	"delegation_reward_owner_locktime" timestamp with time zone,
	"delegation_reward_owner_locktime_raw" numeric,
	"delegation_reward_owner_threshold" numeric,
	"delegation_reward_owner_addresses" jsonb,
	"validator_authority_locktime" timestamp with time zone,
	"validator_authority_locktime_raw" numeric,
	"validator_authority_threshold" numeric,
	"validator_authority_addresses" jsonb,
	"min_nonce" numeric,
	"balance" numeric,
	"potential_reward" numeric,
	"accrued_delegatee_reward" numeric,
	"delegation_fee" numeric,
	"signer_public_key" text,
	"signer_proof_of_possession" text,
	"delegator_count" numeric,
	"delegator_weight" numeric,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_assets" (
	"node" text NOT NULL,
	"asset_id" text NOT NULL,
	"name" text,
	"symbol" text NOT NULL,
	"denomination" bigint,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_balances" (
	"node" text NOT NULL,
	"address" text NOT NULL,
	"asset_id" text NOT NULL,
	"asset" text,
	"balance" numeric NOT NULL,
	"utxo_ids" jsonb,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_blocks" (
	"node" text NOT NULL,
	"height" numeric NOT NULL,
	"id" text,
	"parent_id" text,
	"time" timestamp with time zone,
	"merkle_root" text,
	"txs" jsonb,
	"bytes" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_transactions" (
	"node" text NOT NULL,
	"tx_id" text NOT NULL,
	"status" text,
	"block_height" numeric,
	"block_id" text,
	"block_time" timestamp with time zone,
	"unsigned_tx_network_id" numeric,
	"unsigned_tx_blockchain_id" text,
	"unsigned_tx_outputs" jsonb,
	"unsigned_tx_inputs" jsonb,
	"unsigned_tx_memo" text,
	"unsigned_tx_destination_chain" text,
	"unsigned_tx_exported_outputs" jsonb,
	"unsigned_tx_source_chain" text,
	"unsigned_tx_imported_inputs" jsonb,
	"unsigned_tx_name" text,
	"unsigned_tx_symbol" text,
	"unsigned_tx_denomination" numeric,
	"unsigned_tx_initial_states" jsonb,
	"unsigned_tx_operations" jsonb,
	"credentials" jsonb,
	"bytes" text,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recorder"."x_utxos" (
	"node" text NOT NULL,
	"address" text NOT NULL,
	"utxo_id" text NOT NULL,
	"source_chain" text,
	"tx_id" text NOT NULL,
	"output_index" bigint NOT NULL,
	"asset_id" text NOT NULL,
	"output_type" bigint NOT NULL,
	"amount" numeric,
	"locktime" timestamp with time zone,
	"locktime_raw" numeric,
	"threshold" bigint,
	"addresses" jsonb,
	"utxo" text NOT NULL,
	"extra" jsonb,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_to" timestamp with time zone,
	"ended_by" text,
	"missed_walks" integer,
	"missed_since" timestamp with time zone,
	"confirmed_at" timestamp with time zone,
	"run_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "alert_messages_waiting" ON "recorder"."alert_messages" USING btree ("recorder","channel","id") WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX "alert_messages_lost" ON "recorder"."alert_messages" USING btree ("made_at") WHERE state in ('refused', 'dropped');--> statement-breakpoint
CREATE UNIQUE INDEX "alerts_open" ON "recorder"."alerts" USING btree ("recorder","rule","subject") WHERE state <> 'resolved';--> statement-breakpoint
CREATE INDEX "alerts_by_end" ON "recorder"."alerts" USING btree ("resolved_at");--> statement-breakpoint
CREATE INDEX "quarantine_by_dataset" ON "recorder"."quarantine" USING btree ("dataset","id");--> statement-breakpoint
CREATE UNIQUE INDEX "quarantine_once" ON "recorder"."quarantine" USING btree ("dataset","target_key","digest");--> statement-breakpoint
CREATE INDEX "runs_running" ON "recorder"."runs" USING btree ("status") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "runs_started" ON "recorder"."runs" USING btree ("started_at");--> statement-breakpoint
CREATE INDEX "runs_that_wrote_nothing" ON "recorder"."runs" USING btree ("finished_at") WHERE 0 = all (rows_written);--> statement-breakpoint
CREATE INDEX "runs_that_wrote" ON "recorder"."runs" USING btree ("finished_at") WHERE not (0 = all (rows_written));--> statement-breakpoint
CREATE INDEX "target_datasets_by_dataset" ON "recorder"."target_datasets" USING btree ("dataset","target_key");--> statement-breakpoint
CREATE INDEX "changes_by_dataset" ON "recorder"."changes" USING btree ("dataset","commit_number");--> statement-breakpoint
CREATE UNIQUE INDEX "discrepancies_once" ON "recorder"."discrepancies" USING btree ("check_name","subject","at");--> statement-breakpoint
CREATE INDEX "discrepancies_open" ON "recorder"."discrepancies" USING btree ("ended_at");--> statement-breakpoint
CREATE UNIQUE INDEX "node_health_key" ON "recorder"."node_health" USING btree (observer, node, probe, check_name, started_at);--> statement-breakpoint
CREATE UNIQUE INDEX "node_health_now" ON "recorder"."node_health" USING btree (observer, node, probe, check_name) WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "health_maintenance_by_end" ON "recorder"."health_maintenance" USING btree ("ends_at");--> statement-breakpoint
CREATE INDEX "incident_notes_by_node" ON "recorder"."incident_notes" USING btree ("node","at");--> statement-breakpoint
CREATE UNIQUE INDEX "configurations_newest" ON "recorder"."configurations" USING btree ("recorder") WHERE newest;--> statement-breakpoint
CREATE INDEX "processes_by_recorder" ON "recorder"."processes" USING btree ("recorder","digest");--> statement-breakpoint
CREATE INDEX "reading_days_day" ON "recorder"."reading_days" USING btree ("scope_id","day");--> statement-breakpoint
CREATE INDEX "reading_members_first" ON "recorder"."reading_members" USING btree ((texts[1]));--> statement-breakpoint
CREATE INDEX "reading_observations_observed" ON "recorder"."reading_observations" USING btree ("scope_id","observed_at");--> statement-breakpoint
CREATE INDEX "reading_open_observed" ON "recorder"."reading_open" USING btree ("dataset","observed_at");--> statement-breakpoint
CREATE UNIQUE INDEX "reading_scopes_request" ON "recorder"."reading_scopes" USING btree ("dataset","request");--> statement-breakpoint
CREATE INDEX "reading_scopes_first" ON "recorder"."reading_scopes" USING btree ("dataset",(request[1]),(request[2]));--> statement-breakpoint
CREATE UNIQUE INDEX "aggregated_signatures_key" ON "recorder"."aggregated_signatures" USING btree (network, request) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "aggregated_signatures_superseded" ON "recorder"."aggregated_signatures" USING btree (network, request) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "aggregated_signatures_recorded" ON "recorder"."aggregated_signatures" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "blockchains_now" ON "recorder"."blockchains" USING btree (network, blockchain_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "blockchains_history" ON "recorder"."blockchains" USING btree (network, blockchain_id);--> statement-breakpoint
CREATE INDEX "blockchains_gone" ON "recorder"."blockchains" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "blockchains_began" ON "recorder"."blockchains" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "deployed_contracts_now" ON "recorder"."deployed_contracts" USING btree (chain_id, deployer, address) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "deployed_contracts_history" ON "recorder"."deployed_contracts" USING btree (chain_id, deployer, address);--> statement-breakpoint
CREATE INDEX "deployed_contracts_gone" ON "recorder"."deployed_contracts" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "deployed_contracts_began" ON "recorder"."deployed_contracts" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "deployment_transactions_key" ON "recorder"."deployment_transactions" USING btree (chain_id, address) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "deployment_transactions_superseded" ON "recorder"."deployment_transactions" USING btree (chain_id, address) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "deployment_transactions_recorded" ON "recorder"."deployment_transactions" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "deployment_transactions_erc20_transfers_filled" ON "recorder"."deployment_transactions" USING btree (chain_id, address) WHERE erc20_transfers <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "deployment_transactions_erc721_transfers_filled" ON "recorder"."deployment_transactions" USING btree (chain_id, address) WHERE erc721_transfers <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "deployment_transactions_erc1155_transfers_filled" ON "recorder"."deployment_transactions" USING btree (chain_id, address) WHERE erc1155_transfers <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "deployment_transactions_internal_transactions_filled" ON "recorder"."deployment_transactions" USING btree (chain_id, address) WHERE internal_transactions <> '[]'::jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "erc1155_balances_now" ON "recorder"."erc1155_balances" USING btree (chain_id, address, contract, token_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "erc1155_balances_history" ON "recorder"."erc1155_balances" USING btree (chain_id, address, contract, token_id);--> statement-breakpoint
CREATE INDEX "erc1155_balances_gone" ON "recorder"."erc1155_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "erc1155_balances_began" ON "recorder"."erc1155_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "erc1155_transfers_key" ON "recorder"."erc1155_transfers" USING btree (chain_id, address, tx_hash, log_index, token_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "erc1155_transfers_superseded" ON "recorder"."erc1155_transfers" USING btree (chain_id, address, tx_hash, log_index, token_id) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "erc1155_transfers_recorded" ON "recorder"."erc1155_transfers" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "evm_transactions_key" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "evm_transactions_superseded" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "evm_transactions_recorded" ON "recorder"."evm_transactions" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "evm_transactions_erc20_transfers_filled" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash) WHERE erc20_transfers <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "evm_transactions_erc721_transfers_filled" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash) WHERE erc721_transfers <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "evm_transactions_erc1155_transfers_filled" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash) WHERE erc1155_transfers <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "evm_transactions_internal_transactions_filled" ON "recorder"."evm_transactions" USING btree (chain_id, tx_hash) WHERE internal_transactions <> '[]'::jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "genesis_data_key" ON "recorder"."genesis_data" USING btree (genesis_hash) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "genesis_data_superseded" ON "recorder"."genesis_data" USING btree (genesis_hash) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "genesis_data_recorded" ON "recorder"."genesis_data" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "native_balance_values_key" ON "recorder"."native_balance_values" USING btree (chain_id, address, observed_at);--> statement-breakpoint
CREATE INDEX "native_balance_values_read" ON "recorder"."native_balance_values" USING btree (observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "native_balances_now" ON "recorder"."native_balances" USING btree (chain_id, address) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "native_balances_history" ON "recorder"."native_balances" USING btree (chain_id, address);--> statement-breakpoint
CREATE INDEX "native_balances_gone" ON "recorder"."native_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "native_balances_began" ON "recorder"."native_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "native_transactions_key" ON "recorder"."native_transactions" USING btree (chain_id, address, tx_hash) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "native_transactions_superseded" ON "recorder"."native_transactions" USING btree (chain_id, address, tx_hash) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "native_transactions_recorded" ON "recorder"."native_transactions" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "nft_tokens_now" ON "recorder"."nft_tokens" USING btree (chain_id, collection, token_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "nft_tokens_history" ON "recorder"."nft_tokens" USING btree (chain_id, collection, token_id);--> statement-breakpoint
CREATE INDEX "nft_tokens_gone" ON "recorder"."nft_tokens" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "nft_tokens_began" ON "recorder"."nft_tokens" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "pending_reward_progress_key" ON "recorder"."pending_reward_progress" USING btree (network, tx_hash, reward_type, observed_at);--> statement-breakpoint
CREATE INDEX "pending_reward_progress_read" ON "recorder"."pending_reward_progress" USING btree (observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "pending_rewards_now" ON "recorder"."pending_rewards" USING btree (network, tx_hash, reward_type) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "pending_rewards_history" ON "recorder"."pending_rewards" USING btree (network, tx_hash, reward_type);--> statement-breakpoint
CREATE INDEX "pending_rewards_gone" ON "recorder"."pending_rewards" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "pending_rewards_began" ON "recorder"."pending_rewards" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "primary_balances_now" ON "recorder"."primary_balances" USING btree (network, blockchain_id, addresses, balance_group, asset_id, coalesce(shared_with_chain_id, '')) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "primary_balances_history" ON "recorder"."primary_balances" USING btree (network, blockchain_id, addresses, balance_group, asset_id, coalesce(shared_with_chain_id, ''));--> statement-breakpoint
CREATE INDEX "primary_balances_gone" ON "recorder"."primary_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "primary_balances_began" ON "recorder"."primary_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "proposed_blocks_single" ON "recorder"."proposed_blocks" USING btree (block_number) WHERE valid_to is null;--> statement-breakpoint
CREATE UNIQUE INDEX "proposed_blocks_key" ON "recorder"."proposed_blocks" USING btree (network, blockchain_id, block_hash) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "proposed_blocks_superseded" ON "recorder"."proposed_blocks" USING btree (network, blockchain_id, block_hash) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "proposed_blocks_recorded" ON "recorder"."proposed_blocks" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "staking_transactions_key" ON "recorder"."staking_transactions" USING btree (network, tx_hash) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "staking_transactions_superseded" ON "recorder"."staking_transactions" USING btree (network, tx_hash) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "staking_transactions_recorded" ON "recorder"."staking_transactions" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "staking_transactions_l1_validator_details_filled" ON "recorder"."staking_transactions" USING btree (network, tx_hash) WHERE l1_validator_details <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "staking_transactions_subnet_ownership_info_addresses_filled" ON "recorder"."staking_transactions" USING btree (network, tx_hash) WHERE subnet_ownership_info_addresses <> '[]'::jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "subnets_now" ON "recorder"."subnets" USING btree (network, subnet_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "subnets_history" ON "recorder"."subnets" USING btree (network, subnet_id);--> statement-breakpoint
CREATE INDEX "subnets_gone" ON "recorder"."subnets" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "subnets_began" ON "recorder"."subnets" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "average_tps_now" ON "recorder"."average_tps" USING btree (chain_id, bucket_start) WHERE valid_to is null or vanished;--> statement-breakpoint
CREATE INDEX "average_tps_history" ON "recorder"."average_tps" USING btree (chain_id, bucket_start, valid_from) WHERE valid_to is not null and not vanished;--> statement-breakpoint
CREATE INDEX "average_tps_recorded" ON "recorder"."average_tps" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "average_tps_revised" ON "recorder"."average_tps" USING btree (valid_to) WHERE valid_to is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "metric_points_series_key" ON "recorder"."metric_points_series" USING btree (chain_id, metric, time_interval);--> statement-breakpoint
CREATE UNIQUE INDEX "metric_points_now" ON "recorder"."metric_points" USING btree (series_id, bucket_start) WHERE valid_to is null or vanished;--> statement-breakpoint
CREATE INDEX "metric_points_history" ON "recorder"."metric_points" USING btree (series_id, bucket_start, valid_from) WHERE valid_to is not null and not vanished;--> statement-breakpoint
CREATE INDEX "metric_points_recorded" ON "recorder"."metric_points" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "metric_points_revised" ON "recorder"."metric_points" USING btree (valid_to) WHERE valid_to is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "chain_heights_key" ON "recorder"."chain_heights" USING btree (node, chain, observed_at);--> statement-breakpoint
CREATE INDEX "chain_heights_read" ON "recorder"."chain_heights" USING btree (observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "current_supply_key" ON "recorder"."current_supply" USING btree (node, subnet_id, observed_at);--> statement-breakpoint
CREATE INDEX "current_supply_read" ON "recorder"."current_supply" USING btree (observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "fees_now" ON "recorder"."fees" USING btree (node) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "fees_history" ON "recorder"."fees" USING btree (node);--> statement-breakpoint
CREATE INDEX "fees_gone" ON "recorder"."fees" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "fees_began" ON "recorder"."fees" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "node_identity_now" ON "recorder"."node_identity" USING btree (node) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "node_identity_history" ON "recorder"."node_identity" USING btree (node);--> statement-breakpoint
CREATE INDEX "node_identity_gone" ON "recorder"."node_identity" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "node_identity_began" ON "recorder"."node_identity" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "node_reported_uptime_key" ON "recorder"."node_reported_uptime" USING btree (node, subnet_id, observed_at);--> statement-breakpoint
CREATE INDEX "node_reported_uptime_read" ON "recorder"."node_reported_uptime" USING btree (observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "p_balances_now" ON "recorder"."p_balances" USING btree (node, address, asset_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "p_balances_history" ON "recorder"."p_balances" USING btree (node, address, asset_id);--> statement-breakpoint
CREATE INDEX "p_balances_gone" ON "recorder"."p_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "p_balances_began" ON "recorder"."p_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "p_blockchains_now" ON "recorder"."p_blockchains" USING btree (node, blockchain_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "p_blockchains_history" ON "recorder"."p_blockchains" USING btree (node, blockchain_id);--> statement-breakpoint
CREATE INDEX "p_blockchains_gone" ON "recorder"."p_blockchains" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "p_blockchains_began" ON "recorder"."p_blockchains" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "p_blocks_key" ON "recorder"."p_blocks" USING btree (node, height) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "p_blocks_superseded" ON "recorder"."p_blocks" USING btree (node, height) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "p_blocks_recorded" ON "recorder"."p_blocks" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "peer_readings_key" ON "recorder"."peer_readings" USING btree (node, node_id, subnet_id, observed_at);--> statement-breakpoint
CREATE INDEX "peer_readings_read" ON "recorder"."peer_readings" USING btree (observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "peers_now" ON "recorder"."peers" USING btree (node, node_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "peers_history" ON "recorder"."peers" USING btree (node, node_id);--> statement-breakpoint
CREATE INDEX "peers_gone" ON "recorder"."peers" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "peers_began" ON "recorder"."peers" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "peers_tracked_subnets_filled" ON "recorder"."peers" USING btree (node, node_id) WHERE tracked_subnets <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "peers_supported_acps_filled" ON "recorder"."peers" USING btree (node, node_id) WHERE supported_acps <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "peers_objected_acps_filled" ON "recorder"."peers" USING btree (node, node_id) WHERE objected_acps <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "peers_benched_filled" ON "recorder"."peers" USING btree (node, node_id) WHERE benched <> '[]'::jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "proposals_now" ON "recorder"."proposals" USING btree (node, proposal) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "proposals_history" ON "recorder"."proposals" USING btree (node, proposal);--> statement-breakpoint
CREATE INDEX "proposals_gone" ON "recorder"."proposals" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "proposals_began" ON "recorder"."proposals" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "upgrades_now" ON "recorder"."upgrades" USING btree (node) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "upgrades_history" ON "recorder"."upgrades" USING btree (node);--> statement-breakpoint
CREATE INDEX "upgrades_gone" ON "recorder"."upgrades" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "upgrades_began" ON "recorder"."upgrades" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "validator_delegators_now" ON "recorder"."validator_delegators" USING btree (node, subnet_id, node_id, start_time, tx_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "validator_delegators_history" ON "recorder"."validator_delegators" USING btree (node, subnet_id, node_id, start_time, tx_id);--> statement-breakpoint
CREATE INDEX "validator_delegators_gone" ON "recorder"."validator_delegators" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "validator_delegators_began" ON "recorder"."validator_delegators" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "validator_uptime_key" ON "recorder"."validator_uptime" USING btree (node, subnet_id, node_id, observed_at);--> statement-breakpoint
CREATE INDEX "validator_uptime_read" ON "recorder"."validator_uptime" USING btree (observed_at);--> statement-breakpoint
CREATE UNIQUE INDEX "validators_now" ON "recorder"."validators" USING btree (node, subnet_id, node_id, start_time, coalesce(tx_id, ''), coalesce(validation_id, '')) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "validators_history" ON "recorder"."validators" USING btree (node, subnet_id, node_id, start_time, coalesce(tx_id, ''), coalesce(validation_id, ''));--> statement-breakpoint
CREATE INDEX "validators_gone" ON "recorder"."validators" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "validators_began" ON "recorder"."validators" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "validators_held" ON "recorder"."validators" USING gist (tstzrange(least(valid_from, valid_to), valid_to));--> statement-breakpoint
CREATE INDEX "validators_remaining_balance_owner_addresses_filled" ON "recorder"."validators" USING btree (node, subnet_id, node_id, start_time, coalesce(tx_id, ''), coalesce(validation_id, '')) WHERE remaining_balance_owner_addresses <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "validators_deactivation_owner_addresses_filled" ON "recorder"."validators" USING btree (node, subnet_id, node_id, start_time, coalesce(tx_id, ''), coalesce(validation_id, '')) WHERE deactivation_owner_addresses <> '[]'::jsonb;--> statement-breakpoint
CREATE INDEX "validators_validator_authority_addresses_filled" ON "recorder"."validators" USING btree (node, subnet_id, node_id, start_time, coalesce(tx_id, ''), coalesce(validation_id, '')) WHERE validator_authority_addresses <> '[]'::jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "x_assets_now" ON "recorder"."x_assets" USING btree (node, asset_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "x_assets_history" ON "recorder"."x_assets" USING btree (node, asset_id);--> statement-breakpoint
CREATE INDEX "x_assets_gone" ON "recorder"."x_assets" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "x_assets_began" ON "recorder"."x_assets" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "x_balances_now" ON "recorder"."x_balances" USING btree (node, address, asset_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "x_balances_history" ON "recorder"."x_balances" USING btree (node, address, asset_id);--> statement-breakpoint
CREATE INDEX "x_balances_gone" ON "recorder"."x_balances" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "x_balances_began" ON "recorder"."x_balances" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "x_blocks_key" ON "recorder"."x_blocks" USING btree (node, height) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "x_blocks_superseded" ON "recorder"."x_blocks" USING btree (node, height) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "x_blocks_recorded" ON "recorder"."x_blocks" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "x_transactions_key" ON "recorder"."x_transactions" USING btree (node, tx_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "x_transactions_superseded" ON "recorder"."x_transactions" USING btree (node, tx_id) WHERE valid_to is not null;--> statement-breakpoint
CREATE INDEX "x_transactions_recorded" ON "recorder"."x_transactions" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
CREATE UNIQUE INDEX "x_utxos_now" ON "recorder"."x_utxos" USING btree (node, address, utxo_id) WHERE valid_to is null;--> statement-breakpoint
CREATE INDEX "x_utxos_history" ON "recorder"."x_utxos" USING btree (node, address, utxo_id);--> statement-breakpoint
CREATE INDEX "x_utxos_gone" ON "recorder"."x_utxos" USING btree (valid_to) WHERE ended_by <> 'changed';--> statement-breakpoint
CREATE INDEX "x_utxos_began" ON "recorder"."x_utxos" USING brin (valid_from timestamptz_minmax_multi_ops) WITH (autosummarize=true);--> statement-breakpoint
-- Storage parameters and a default, which the schema cannot express. The initial migration ends with this file.
-- Rows that are rewritten at each observation leave room for their next version; packed histograms are always compressed.
ALTER TABLE "recorder"."health_probes" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "recorder"."health_latency" SET (toast_tuple_target = 128);--> statement-breakpoint
ALTER TABLE "recorder"."health_latency" ALTER COLUMN "entries" SET STORAGE MAIN;--> statement-breakpoint
-- Bits do not compress, and a row in one piece is read without a second table.
ALTER TABLE "recorder"."reading_days" ALTER COLUMN "bits" SET STORAGE EXTERNAL, ALTER COLUMN "present" SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160);--> statement-breakpoint
ALTER TABLE "recorder"."reading_open" ALTER COLUMN "bits" SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160);--> statement-breakpoint
-- Hashes do not compress; compressing the texts of changed keys took an eighth of a commit.
ALTER TABLE "recorder"."changes" ALTER COLUMN "texts" SET STORAGE EXTERNAL;
--> statement-breakpoint
-- A day in a query is a day of UTC, whatever the time zone of the server is: in a database of the recorder alone, which was given none.
do $$
begin
  if not exists (select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) c
      where d.datname = current_database() and s.setrole = 0 and c ilike 'timezone=%')
    and not exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname !~ '^(pg_|information_schema$|recorder|reporting(_internal)?$|drizzle$|bullmq$)' and c.relkind in ('r', 'p', 'v', 'm', 'f')
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e'))
  then
    execute format('alter database %I set timezone to ''UTC''', current_database());
  end if;
exception
  when insufficient_privilege then null;
end
$$;
