import { createHash } from 'node:crypto';
import { sql as expression, type SQL } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Config } from '../config/schema.ts';
import { processes } from '../db/schema/process-tables.ts';
import type { ConfiguredFeed } from './active-feed.ts';
import { targetKey } from './target-key.ts';

/** The part of a configuration that other processes of the recorder depend on. */
export interface Configuration {
  /** Name of the recorder. */
  readonly recorder: string;
  readonly network: string;
  /**
   * Digest of recorded data, exports, alerts and retention. The digest does not depend on the formatting of
   * the configuration file.
   */
  readonly digest: string;
}

/** The recorder and the configuration for which targets are registered. */
export interface Registrant {
  readonly recorder: string;
  /**
   * Digest of a configuration. The recorder may only write while this configuration is its newest. Null: the
   * recorder may always write.
   */
  readonly digest: string | null;
}

/** Time without a heartbeat after which a process counts as dead, in seconds by the clock of the database. */
export const HEARTBEAT_TIMEOUT_SECONDS = 20;

/**
 * Returns the part of a configuration that other processes depend on. URLs of upstreams are excluded, because
 * the same node may have different addresses on different machines. Secrets are excluded, because channels
 * and sinks are compared as written, with `${NAME}`. Budgets are included, because all processes share one
 * budget row per service, even with different keys. With two different limits, the process with the greater
 * limit would use the calls that the other process reserves for polls, and alerts about the daily budget
 * would start and end repeatedly.
 */
export function createConfiguration(
  {
    name,
    network,
    upstreams,
    exports,
    alerts,
    changes,
    retention,
    runs,
    health: { rewards },
  }: Pick<
    Config,
    'name' | 'network' | 'upstreams' | 'exports' | 'alerts' | 'changes' | 'retention' | 'runs' | 'health'
  >,
  feeds: readonly ConfiguredFeed[],
): Configuration {
  const watchedFeeds = feeds
    .map(({ source, datasets, targets, pageSize }) => ({
      source: source.name,
      datasets: datasets.map(({ name, every, since }) => [name, every, since]),
      targets: targets.map(targetKey).sort(),
      pageSize,
    }))
    .filter(({ targets }) => targets.length > 0);
  const kept = Object.entries(retention).sort(([one], [other]) => (one < other ? -1 : 1));
  const budgets = [upstreams.chainData?.budget, upstreams.metrics?.budget];
  const digest = createHash('sha256')
    .update(
      JSON.stringify({
        network,
        wanted: watchedFeeds,
        exports,
        alerts,
        changes,
        kept,
        runs,
        rewards,
        budgets,
      }),
    )
    .digest('hex');
  return { recorder: name, network, digest };
}

/** SQL: condition that a process of the recorder `name` is alive. */
export const isAliveSql = (name: SQL): SQL => expression`exists (
  select from ${processes} alive where alive.recorder = ${name} and alive.left_at is null
    and alive.seen_at > now() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS}))`;

/**
 * Returns whether a command in the foreground may register targets. A command must not register targets while
 * `up` runs with another configuration, because it would remove the targets of that configuration.
 */
export async function canRegister(sql: postgres.Sql, { recorder, digest }: Configuration): Promise<boolean> {
  const [other] = await sql`
    select 1 from recorder.processes where recorder = ${recorder} and digest <> ${digest} and left_at is null
      and seen_at > now() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS}) limit 1`;
  return other === undefined;
}
