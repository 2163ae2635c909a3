import type postgres from 'postgres';
import { UsageError } from '../errors.ts';
import type { DatasetSettings, Watched } from './active-feed.ts';
import { lives, type Registrant } from './configuration.ts';
import { targetKey } from './target-key.ts';

/**
 * Stores what a feed wants of which targets, so that the freshness of each is known. Targets that left the configuration
 * are not wanted any more. The expected begin of a recording is fixed when it is first wanted. Nothing is taken from
 * another recorder that lives, and a recorder whose configuration is not the newest writes nothing.
 *
 * Runs commit meanwhile, and each locks its target before the target's datasets. So does this, for what changes only:
 * in the other order the two could wait for each other.
 */
export async function registerTargets(
  sql: postgres.Sql,
  { source, datasets, targets }: Watched,
  now: number,
  by: Registrant = { recorder: 'recorder', digest: null },
): Promise<void> {
  const { range } = source;
  const keys = targets.map(targetKey);
  const names = datasets.map(({ name }) => name);
  const expectedFrom = ({ since }: DatasetSettings) =>
    range?.axis === 'time' ? (since ?? now - range.lookback) : null;
  await sql`
    with entitled as materialized (${entitled(sql, by)}), asked as materialized (
      select a.* from entitled,
        unnest(${keys}::text[], ${targets.map((target) => JSON.stringify(target))}::text[]) as a(key, target)
      where not exists (select from recorder.targets o where o.source = ${source.name} and o.target_key = a.key
        and o.recorder <> ${by.recorder} and ${lives(sql, sql`o.recorder`)})
    ), wanted as materialized (
      select asked.key, d.* from asked cross join unnest(${names}::text[], ${datasets.map(({ every }) => every)}::bigint[],
        ${datasets.map(expectedFrom)}::bigint[]) as d(dataset, every_ms, expected_from)
      left join recorder.target_datasets t
        on t.source = ${source.name} and t.target_key = asked.key and t.dataset = d.dataset
      where t.active is not true or (t.every_ms, t.once) <> (d.every_ms, ${source.once ?? false})
        or d.expected_from < coalesce(t.expected_from, 9223372036854775807)
    ), changed as materialized (
      select key, target from asked where key in (select key from wanted) or not exists (
        select from recorder.targets o
        where o.source = ${source.name} and o.target_key = asked.key and o.recorder = ${by.recorder})
    ), locked as (
      insert into recorder.targets as k (source, target_key, target, recorder)
      select ${source.name}, key, target::jsonb, ${by.recorder} from changed order by key
      on conflict (source, target_key) do update set recorder = excluded.recorder
      returning 1
    )
    insert into recorder.target_datasets as t (source, target_key, dataset, every_ms, once, active, wanted_at, expected_from)
    select ${source.name}, key, dataset, every_ms, ${source.once ?? false}, true, ${new Date(now)}, expected_from
    from (select count(*) from locked) as first, wanted
    on conflict (source, target_key, dataset) do update set active = true, left_at = null, ended_at = null,
      every_ms = excluded.every_ms, once = excluded.once, wanted_at = case when t.active then t.wanted_at else excluded.wanted_at end,
      expected_from = least(t.expected_from, excluded.expected_from)`;
  await leave(
    sql,
    now,
    by,
    sql`d.source = ${source.name} and not (d.target_key = any(${keys}::text[]) and d.dataset = any(${names}::text[]))`,
  );
}

/**
 * Stores everything that a configuration wants. Other targets of the recorder are not wanted any more.
 * @throws UsageError when another living recorder has some of the targets: their names
 */
export async function registerAll(
  sql: postgres.Sql,
  feeds: readonly Watched[],
  now: number,
  by: Registrant,
): Promise<void> {
  await refuseTaken(sql, feeds, by); // before anything is written
  for (const feed of feeds) await registerTargets(sql, feed, now, by);
  await leave(sql, now, by, sql`d.source <> all(${feeds.map(({ source }) => source.name)}::text[])`);
  // The schedules of a recorder of which nothing is wanted any more, such as one that was renamed, are not missed.
  await sql`
    delete from recorder.schedules s where s.recorder <> ${by.recorder} and not exists (
      select from recorder.target_datasets d join recorder.targets t using (source, target_key)
      where d.active and t.recorder = s.recorder)`;
  await refuseTaken(sql, feeds, by); // two may have begun at once
}

/** Notes that some of the registrant's datasets `d` are not wanted any more. Their targets are locked first, too. */
async function leave(
  sql: postgres.Sql,
  now: number,
  by: Registrant,
  which: postgres.Fragment,
): Promise<void> {
  await sql`
    with entitled as materialized (${entitled(sql, by)}), left_now as materialized (
      select d.source, d.target_key, d.dataset from entitled, recorder.target_datasets d
      where d.active and ${which} and exists (select from recorder.targets t
        where (t.source, t.target_key) = (d.source, d.target_key) and t.recorder = ${by.recorder})
    ), locked as materialized (
      select from recorder.targets t where (source, target_key) in (select source, target_key from left_now)
      order by source, target_key for update
    )
    update recorder.target_datasets d set active = false, left_at = ${new Date(now)}, ended_at = null
    from (select count(*) from locked) as first, left_now l
    where (d.source, d.target_key, d.dataset) = (l.source, l.target_key, l.dataset) and d.active`;
}

async function refuseTaken(sql: postgres.Sql, feeds: readonly Watched[], by: Registrant): Promise<void> {
  const taken = await takenFrom(sql, feeds, by);
  if (taken.length > 0) throw new UsageError(taken);
}

/** What of the feeds another living recorder has, as problems, each with what to do. */
export async function takenFrom(
  sql: postgres.Sql,
  feeds: readonly Watched[],
  by: Registrant,
): Promise<string[]> {
  const taken: string[] = [];
  for (const feed of feeds) taken.push(...(await takenTargets(sql, feed, by)));
  return taken;
}

/** The feed's targets that another living recorder has, as problems, each with what to do. */
async function takenTargets(
  sql: postgres.Sql,
  { source, datasets, targets }: Watched,
  by: Registrant,
): Promise<string[]> {
  const rows = await sql<{ target_key: string; recorder: string }[]>`
    select target_key, recorder from recorder.targets t
    where source = ${source.name} and target_key = any(${targets.map(targetKey)}::text[])
      and recorder <> ${by.recorder} and ${lives(sql, sql`t.recorder`)} order by target_key`;
  return rows.map(
    ({ target_key, recorder }) =>
      `${datasets.map(({ name }) => name).join(', ')} of ${target_key}: the recorder "${recorder}" records it in this ` +
      `database, and so would "${by.recorder}": leave it out of one of them, or give both one name`,
  );
}

/** SQL: one row if the registrant may decide what is wanted. It keeps that right until the statement has ended. */
export function entitled(sql: postgres.Sql, { recorder, digest }: Registrant) {
  return digest === null
    ? sql`select 1`
    : sql`select 1 from recorder.configurations where recorder = ${recorder} and digest = ${digest} and newest for share`;
}
