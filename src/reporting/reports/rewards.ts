import type postgres from 'postgres';
import { PRIMARY_NETWORK } from '../../datasets/node/current-validators.ts';
import type { Values } from './saved-queries.ts';
import { momentOf } from './uptime.ts';

/**
 * The uptime that a validation needs for its reward (configuration, `health.rewards`). Uptimes in percent,
 * time in ms since 1970.
 */
export interface RewardThresholds {
  readonly minUptime: number;
  readonly upgradeAt?: number | undefined;
  readonly minUptimeAfterUpgrade: number;
}

/** Returns the thresholds as parameters of the saved queries that compare uptimes with thresholds. */
export const rewardParameters = ({
  minUptime,
  upgradeAt,
  minUptimeAfterUpgrade,
}: RewardThresholds): Values => ({
  threshold: String(minUptime),
  ...(upgradeAt === undefined ? {} : { upgrade_at: new Date(upgradeAt).toISOString() }),
  threshold_after: String(minUptimeAfterUpgrade),
});

/**
 * A validation of a configured node on the primary network as observed by one node. The observation is not
 * the decision of the network.
 */
export interface ValidationView {
  readonly node: string;
  readonly node_id: string;
  /** The observing node. */
  readonly seen_by: string;
  readonly observed_at: Date;
  readonly uptime_percent: number | null;
  readonly connected: boolean | null;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly threshold_percent: number;
  /**
   * Minutes that the validator may be down until its end without missing the threshold. Negative: the
   * threshold is missed.
   */
  readonly downtime_left_minutes: number | null;
}

/**
 * The share of the stake of the network that would reward a configured node, as reported by `info.uptime` of
 * that node. All shares are in percent.
 */
export interface StakeView {
  readonly node: string;
  readonly observed_at: Date;
  readonly rewarding_stake_percentage: number;
  readonly weighted_average_percentage: number;
}

/**
 * Reads the latest observations of the validations of configured nodes on the primary network, and the stake
 * that would reward these nodes.
 * @param asOf returns the latest observations at this moment; null: now
 */
export async function networkViews(
  sql: postgres.Sql,
  thresholds: RewardThresholds,
  asOf: string | null = null,
): Promise<{ validations: ValidationView[]; stake: StakeView[] }> {
  const at = sql`${momentOf(asOf)}::text::timestamptz`;
  // A dataset without a record at the moment is not queried, because the query would raise an error.
  const recorded = async (...datasets: string[]) => {
    const rows = await sql`
      select dataset from reporting_internal.recorded_since where dataset = any(${datasets}) and greatest(recorded_since, kept_since) <= ${at} group by dataset`;
    return rows.length === datasets.length;
  };
  const [validations, stake] = await Promise.all([
    (await recorded('node_identity', 'validators', 'validator_uptime'))
      ? sql<Omit<ValidationView, 'threshold_percent' | 'downtime_left_minutes'>[]>`
        select i.node, i.node_id, u.node as seen_by, u.observed_at, u.uptime::float8 as uptime_percent, u.connected,
          v.start_time, v.end_time
        from reporting.node_identity_as_of(${at}) i
        join reporting.node_validators_as_of(${at}) v on v.node_id = i.node_id and v.subnet_id = ${PRIMARY_NETWORK}
          -- A node that no longer answers keeps its last list.
          and v.end_time > ${at}
        join lateral (
          select distinct on (u.node) u.node, u.observed_at, u.uptime, u.connected from reporting_internal.validator_uptime_as_of(${at}) u
          where u.node = v.node and u.subnet_id = v.subnet_id and u.node_id = v.node_id order by u.node, u.observed_at desc) u on true
        order by i.node, u.node`
      : [],
    (await recorded('node_reported_uptime'))
      ? sql<StakeView[]>`
        select distinct on (node) node, observed_at, rewarding_stake_percentage::float8, weighted_average_percentage::float8
        from reporting_internal.node_reported_uptime_as_of(${at}) order by node, observed_at desc`
      : [],
  ]);
  return {
    stake: [...stake],
    validations: validations.map((view) => {
      const threshold_percent = thresholdOf(view.start_time.getTime(), thresholds);
      return { ...view, threshold_percent, downtime_left_minutes: downtimeLeft(view, threshold_percent) };
    }),
  };
}

/** Returns the uptime, in percent, that a validation with this start (in ms since 1970) must reach. */
export function thresholdOf(
  start: number,
  { minUptime, upgradeAt, minUptimeAfterUpgrade }: RewardThresholds,
): number {
  return upgradeAt !== undefined && start >= upgradeAt ? minUptimeAfterUpgrade : minUptime;
}

/**
 * Returns the remaining minutes of downtime: the allowance of the whole validation, minus the downtime up to
 * the observation.
 */
export function downtimeLeft(
  view: Pick<ValidationView, 'start_time' | 'end_time' | 'observed_at' | 'uptime_percent'>,
  threshold: number,
): number | null {
  if (view.uptime_percent === null) return null;
  const [start, end, observed] = [view.start_time, view.end_time, view.observed_at].map(
    (time) => time.getTime() / 60_000,
  );
  const allowed = ((end ?? 0) - (start ?? 0)) * (1 - threshold / 100);
  const used = ((observed ?? 0) - (start ?? 0)) * (1 - view.uptime_percent / 100);
  return Math.floor(allowed - used + 1e-6);
}
