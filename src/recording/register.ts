import { sql as expression, type SQL } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Target } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import { configurations } from '../db/schema/process-tables.ts';
import { splitIntoChunks } from '../lib/chunk.ts';
import { UsageError } from '../lib/errors.ts';
import type { ConfiguredFeed, DatasetSettings } from './active-feed.ts';
import { isAliveSql, type Registrant } from './configuration.ts';
import { firstStart } from './range-start.ts';
import { targetKey } from './target-key.ts';

/**
 * Registers the targets of a feed. Registered targets of the feed that are no longer configured are
 * deactivated.
 */
export async function registerTargets(
  sql: postgres.Sql,
  feed: ConfiguredFeed,
  now: number,
  by: Registrant = { recorder: 'recorder', digest: null },
): Promise<void> {
  await registerFeeds(sql, [feed], now, by, expression`d.source = ${feed.source.name}`);
}

/**
 * Registers all targets of a configuration. All other targets of the recorder are deactivated.
 * @throws UsageError with the targets that another live recorder records
 */
export async function registerAll(
  sql: postgres.Sql,
  feeds: readonly ConfiguredFeed[],
  now: number,
  by: Registrant,
): Promise<void> {
  await rejectTargetConflicts(sql, feeds, by); // before any write
  await registerFeeds(sql, feeds, now, by, expression`true`);
  await rejectTargetConflicts(sql, feeds, by); // two recorders may have started concurrently
}

/**
 * Maximum number of targets per statement, so that a statement does not time out on a slow machine. Most
 * recorders have fewer targets.
 */
const REGISTER_BATCH_SIZE = 10_000;
/**
 * Number of new rows after which the tables are analyzed, because PostgreSQL would choose wrong plans with
 * outdated statistics.
 */
const ANALYZE_THRESHOLD = 1_000;

/** A target to register. */
interface FeedTarget {
  readonly source: ConfiguredFeed['source'];
  readonly target: Target;
}

/**
 * Registers the targets of feeds, and deactivates all other datasets `d` of the registrant that match
 * `among`.
 */
async function registerFeeds(
  sql: postgres.Sql,
  feeds: readonly ConfiguredFeed[],
  now: number,
  by: Registrant,
  among: SQL,
): Promise<void> {
  const all = feeds.flatMap(({ source, targets }) => targets.map((target) => ({ source, target })));
  let [own, written, analyzed] = [0, 0, ANALYZE_THRESHOLD];
  for (const part of splitIntoChunks(all, REGISTER_BATCH_SIZE)) {
    const stored = await registerBatch(sql, feeds, part, now, by);
    own += stored.own;
    written += stored.written;
    if (written < analyzed) continue;
    await ormOf(sql).execute(expression`analyze ${targets}, ${targetDatasets}`);
    analyzed = 2 * written;
  }
  const [known] = await ormOf(sql).execute<{ count: number }>(expression`
    select count(*)::int from ${targetDatasets} d join ${targets} t using (source, target_key)
    where d.active and ${among} and t.recorder = ${by.recorder}`);
  const expectedCount = feeds.reduce(
    (sum, { targets, datasets }) => sum + targets.length * datasets.length,
    0,
  );
  // All targets belong to the registrant, and the registrant has no other targets. So no target must be
  // deactivated.
  if (own === all.length && known?.count === expectedCount) return;
  await deactivateOthers(sql, feeds, now, by, among);
}

/**
 * Registers some targets of feeds, so that the freshness of each target is known. The expected start of a
 * recording is fixed at the first registration. No target of another live recorder is changed. A recorder
 * whose configuration is not the newest writes nothing.
 *
 * Concurrent runs lock their target before the datasets of the target. This statement locks only changed rows
 * and uses the same order, because the reverse order could deadlock.
 * @returns the number of targets that belong to the registrant, and the number of written rows
 */
async function registerBatch(
  sql: postgres.Sql,
  feeds: readonly ConfiguredFeed[],
  feedTargets: readonly FeedTarget[],
  now: number,
  by: Registrant,
): Promise<{ readonly own: number; readonly written: number }> {
  const offers = feeds.flatMap(({ source, datasets }) => datasets.map((dataset) => ({ source, dataset })));
  const expectedFrom = ({ range }: ConfiguredFeed['source'], { since }: DatasetSettings) =>
    range?.axis === 'time' ? (since ?? firstStart(range, now)) : range ? since : null;
  // Lists are not joined with each other: PostgreSQL underestimates their length and would use a nested loop.
  const [stored] = await ormOf(sql).execute<{ own: number; written: number }>(expression`
    with entitled as materialized (${entitledSql(by)}), offered as materialized (
      select a.* from entitled,
        unnest(${expression.param(feedTargets.map(({ source }) => source.name))}::text[], ${expression.param(feedTargets.map(({ target }) => targetKey(target)))}::text[],
          ${expression.param(feedTargets.map(({ target }) => JSON.stringify(target)))}::text[]) as a(source, key, target)
      where not exists (select from ${targets} o where o.source = a.source and o.target_key = a.key
        and o.recorder <> ${by.recorder} and ${isAliveSql(expression`o.recorder`)})
    ), to_write as materialized (
      select offered.key, offered.target, d.* from unnest(${expression.param(offers.map(({ source }) => source.name))}::text[],
        ${expression.param(offers.map(({ dataset }) => dataset.name))}::text[], ${expression.param(offers.map(({ dataset }) => dataset.every))}::bigint[],
        ${expression.param(offers.map(({ source }) => `${source.once ?? false}`))}::boolean[],
        ${expression.param(offers.map(({ source, dataset }) => expectedFrom(source, dataset)))}::bigint[])
        as d(source, dataset, every_ms, once, expected_from)
      join offered on offered.source = d.source
      left join ${targetDatasets} t
        on t.source = d.source and t.target_key = offered.key and t.dataset = d.dataset
      where t.active is not true or (t.every_ms, t.once) <> (d.every_ms, d.once)
        or d.expected_from < coalesce(t.expected_from, 9223372036854775807)
    ), changed as materialized (
      select source, key, target from to_write
      union
      select offered.* from offered where not exists (
        select from ${targets} o
        where o.source = offered.source and o.target_key = offered.key and o.recorder = ${by.recorder})
    ), locked as (
      insert into ${targets} as k (source, target_key, target, recorder)
      select source, key, target::jsonb, ${by.recorder} from changed order by source, key
      on conflict (source, target_key) do update set recorder = excluded.recorder
      returning 1
    ), first as materialized (select count(*) from locked), written as (
      insert into ${targetDatasets} as t (source, target_key, dataset, every_ms, once, active, requested_since, expected_from)
      select source, key, dataset, every_ms, once, true, least(${new Date(now)}::timestamptz, now()), expected_from
      from first, to_write
      on conflict (source, target_key, dataset) do update set active = true, left_at = null, ended_at = null,
        every_ms = excluded.every_ms, once = excluded.once, requested_since = case when t.active then t.requested_since else excluded.requested_since end,
        expected_from = least(t.expected_from, excluded.expected_from)
      returning 1
    )
    select (select count(*) from offered)::int as own, (select count(*) from written)::int as written`);
  if (!stored) throw new Error('the query that registers targets returned no row');
  return stored;
}

/**
 * Deactivates datasets `d` of the registrant that are not in the feeds. Targets are locked before their
 * datasets, as in {@link registerBatch}.
 * @param among condition that limits the datasets
 */
async function deactivateOthers(
  sql: postgres.Sql,
  feeds: readonly ConfiguredFeed[],
  now: number,
  by: Registrant,
  among: SQL,
): Promise<void> {
  const kept = feeds.flatMap(({ source, datasets, targets }) =>
    targets.flatMap((target) =>
      datasets.map((dataset) => ({ source: source.name, key: targetKey(target), dataset: dataset.name })),
    ),
  );
  // `except` is used instead of a join, because PostgreSQL underestimates the length of the list.
  await ormOf(sql).execute(expression`
    with entitled as materialized (${entitledSql(by)}), left_now as materialized (
      select d.source, d.target_key, d.dataset from entitled, ${targetDatasets} d
      join ${targets} t using (source, target_key)
      where d.active and ${among} and t.recorder = ${by.recorder}
      except select * from unnest(${expression.param(kept.map(({ source }) => source))}::text[], ${expression.param(kept.map(({ key }) => key))}::text[],
        ${expression.param(kept.map(({ dataset }) => dataset))}::text[])
    ), locked as materialized (
      select from ${targets} t where (source, target_key) in (select source, target_key from left_now)
      order by source, target_key for update
    ), first as materialized (select count(*) from locked)
    update ${targetDatasets} d set active = false, left_at = ${new Date(now)}, ended_at = null
    from first, left_now l
    where (d.source, d.target_key, d.dataset) = (l.source, l.target_key, l.dataset) and d.active`);
}

async function rejectTargetConflicts(
  sql: postgres.Sql,
  feeds: readonly ConfiguredFeed[],
  by: Registrant,
): Promise<void> {
  const conflicts = await findTargetConflicts(sql, feeds, by);
  if (conflicts.length > 0) throw new UsageError(conflicts);
}

/** Returns error messages with fixes for targets of the feeds that another live recorder records. */
export async function findTargetConflicts(
  sql: postgres.Sql,
  feeds: readonly ConfiguredFeed[],
  by: Registrant,
): Promise<string[]> {
  const requested = feeds.flatMap(({ source, datasets, targets }) =>
    targets.map((target) => ({ source: source.name, key: targetKey(target), datasets })),
  );
  const rows = await ormOf(sql).execute<{ place: number; target_key: string; recorder: string }>(expression`
    select a.place::int as place, t.target_key, t.recorder
    from unnest(${expression.param(requested.map(({ source }) => source))}::text[], ${expression.param(requested.map(({ key }) => key))}::text[])
      with ordinality as a(source, key, place)
    join ${targets} t on t.source = a.source and t.target_key = a.key
    where t.recorder <> ${by.recorder} and ${isAliveSql(expression`t.recorder`)} order by a.place`);
  return rows.map(({ place, target_key, recorder }) => {
    const names = requested[place - 1]?.datasets.map(({ name }) => name).join(', ');
    return (
      `${names} of ${target_key}: the recorder "${recorder}" already records this target in this database, and ` +
      `"${by.recorder}" would record it again: remove the target from one configuration, or give both recorders one name`
    );
  });
}

/**
 * SQL: one row if the registrant may register targets. The row lock keeps this permission until the end of
 * the transaction.
 */
export const entitledSql = ({ recorder, digest }: Registrant): SQL =>
  digest === null
    ? expression`select 1`
    : expression`select 1 from ${configurations} where recorder = ${recorder} and digest = ${digest} and newest for share`;
