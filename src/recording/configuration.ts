import { createHash } from 'node:crypto';
import { sql as expression, type SQL } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Config } from '../config/schema.ts';
import { processes } from '../db/schema/process-tables.ts';
import type { Watched } from './active-feed.ts';
import { targetKey } from './target-key.ts';

/** What of a configuration matters to the other processes of a recorder. */
export interface Configuration {
  /** The recorder's name. */
  readonly recorder: string;
  readonly network: string;
  /** Equal when the same is recorded, exported, sent, kept and told to the same people, however the file is written. */
  readonly digest: string;
}

/** The recorder that stores what is wanted, and by which configuration. */
export interface Registrant {
  readonly recorder: string;
  /** Set: it may only write while this is the recorder's newest configuration. Null: it may always write. */
  readonly digest: string | null;
}

/** A process without a sign of life for so long counts as dead; seconds by the database's clock. */
export const LIVES_FOR = 20;

/**
 * What matters of a configuration. URLs of upstreams do not: the same node may have another address seen from another machine.
 * Secrets do not either: of channels and sinks it is what is written that counts, with `${NAME}` in it. Budgets do: whatever their keys,
 * all processes draw on one row a service, so that of two limits the greater one takes what the other leaves for polls, and what is told of
 * the day's budget goes to and fro between them.
 */
export function configurationOf(
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
  feeds: readonly Watched[],
): Configuration {
  const wanted = feeds
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
    .update(JSON.stringify({ network, wanted, exports, alerts, changes, kept, runs, rewards, budgets }))
    .digest('hex');
  return { recorder: name, network, digest };
}

/** SQL: a process of the recorder `name` lives. */
export const lives = (name: SQL): SQL => expression`exists (
  select from ${processes} alive where alive.recorder = ${name} and alive.left_at is null
    and alive.seen_at > now() - make_interval(secs => ${LIVES_FOR}))`;

/**
 * Whether a command in the foreground may write down what is wanted: not while `up` runs with another configuration,
 * whose targets it would take away.
 */
export async function mayRegister(sql: postgres.Sql, { recorder, digest }: Configuration): Promise<boolean> {
  const [other] = await sql`
    select 1 from recorder.processes where recorder = ${recorder} and digest <> ${digest} and left_at is null
      and seen_at > now() - make_interval(secs => ${LIVES_FOR}) limit 1`;
  return other === undefined;
}
