ALTER TABLE "recorder"."staking_transactions" ADD COLUMN "subnet_ownership_info_locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."subnets" ADD COLUMN "subnet_ownership_info_locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."subnets" ADD COLUMN "locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."validator_delegators" ADD COLUMN "reward_owner_locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."validators" ADD COLUMN "remaining_balance_owner_locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."validators" ADD COLUMN "deactivation_owner_locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."validators" ADD COLUMN "validation_reward_owner_locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."validators" ADD COLUMN "delegation_reward_owner_locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."validators" ADD COLUMN "validator_authority_locktime_raw" numeric;--> statement-breakpoint
ALTER TABLE "recorder"."x_utxos" ADD COLUMN "locktime_raw" numeric;--> statement-breakpoint
-- The number of every lock time that is known: without it the next look would see a change.
update recorder.staking_transactions set subnet_ownership_info_locktime_raw = extract(epoch from subnet_ownership_info_locktime)::bigint
  where subnet_ownership_info_locktime is not null;--> statement-breakpoint
update recorder.subnets set subnet_ownership_info_locktime_raw = extract(epoch from subnet_ownership_info_locktime)::bigint,
  locktime_raw = extract(epoch from locktime)::bigint
  where coalesce(subnet_ownership_info_locktime, locktime) is not null;--> statement-breakpoint
update recorder.validator_delegators set reward_owner_locktime_raw = extract(epoch from reward_owner_locktime)::bigint
  where reward_owner_locktime is not null;--> statement-breakpoint
update recorder.validators set remaining_balance_owner_locktime_raw = extract(epoch from remaining_balance_owner_locktime)::bigint,
  deactivation_owner_locktime_raw = extract(epoch from deactivation_owner_locktime)::bigint,
  validation_reward_owner_locktime_raw = extract(epoch from validation_reward_owner_locktime)::bigint,
  delegation_reward_owner_locktime_raw = extract(epoch from delegation_reward_owner_locktime)::bigint,
  validator_authority_locktime_raw = extract(epoch from validator_authority_locktime)::bigint
  where coalesce(remaining_balance_owner_locktime, deactivation_owner_locktime, validation_reward_owner_locktime, delegation_reward_owner_locktime, validator_authority_locktime) is not null;--> statement-breakpoint
update recorder.x_utxos set locktime_raw = extract(epoch from locktime)::bigint
  where locktime is not null;--> statement-breakpoint
-- One beyond the calendar was left out; it is in the bytes of the output, big-endian from the 83rd.
update recorder.x_utxos set locktime_raw = mod(
    ('x' || substr(utxo, 167, 16))::bit(64)::bigint + 18446744073709551616::numeric, 18446744073709551616)
  where locktime is null and amount is not null and utxo ~ '^0x[0-9a-f]{180}';
