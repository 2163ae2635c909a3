import type postgres from 'postgres';
import type { RewardThresholds } from './rewards.ts';

/** A validator of the user, as `reporting.my_validators` returns it. Amounts are decimal texts in AVAX. */
export interface MyValidator {
  readonly node_id: string;
  /** The configured node with this id; null if no configured node has this id. */
  readonly node: string | null;
  readonly state: 'up' | 'down' | 'unknown' | 'maintenance' | null;
  readonly state_since: Date | null;
  /** Uptime of the node by its health probe, as a share from 0 to 1. */
  readonly node_uptime: number | null;
  /** Uptime as observed by peers, in percent. `rewarding_stake` and `threshold` are also in percent. */
  readonly uptime: number | null;
  readonly uptime_seen_by: string | null;
  readonly rewarding_stake: number | null;
  readonly threshold: number | null;
  readonly downtime_left_minutes: number | null;
  readonly stake_avax: string | null;
  readonly delegated_avax: string | null;
  readonly delegations: number | null;
  readonly free_capacity_avax: string | null;
  readonly end_time: Date | null;
  readonly days_left: number | null;
  readonly reward_expected_avax: string | null;
  readonly rewards_received_avax: string | null;
  readonly blocks_7d: number | null;
  readonly expected_blocks_7d: number | null;
  readonly version: string | null;
  readonly network_version: string | null;
  readonly is_outdated: boolean | null;
  readonly l1_validations: number;
  readonly l1_subnet_id: string | null;
  readonly l1_balance_avax: string | null;
  readonly l1_days_left: number | null;
}

/**
 * Reads the validators of the user: the validators in `watch.nodeIds`, and the validators whose node is
 * configured.
 * @param thresholds the uptimes that a reward requires
 */
export async function readMyValidators(
  sql: postgres.Sql,
  { minUptime, upgradeAt, minUptimeAfterUpgrade }: RewardThresholds,
): Promise<readonly MyValidator[]> {
  const upgrade = upgradeAt === undefined ? null : new Date(upgradeAt);
  return sql<MyValidator[]>`
    select node_id, node, state, state_since, node_uptime::float8, uptime::float8, uptime_seen_by, rewarding_stake::float8,
      threshold::float8, downtime_left_minutes::float8, stake_avax::text, delegated_avax::text, delegations::float8,
      free_capacity_avax::text, end_time, days_left::float8, reward_expected_avax::text, rewards_received_avax::text,
      blocks_7d::float8, expected_blocks_7d::float8, version, network_version, is_outdated, l1_validations::float8,
      l1_subnet_id, l1_balance_avax::text, l1_days_left::float8
    from reporting.my_validators(threshold => ${minUptime}, upgrade_at => ${upgrade}, threshold_after => ${minUptimeAfterUpgrade})`;
}
