import type postgres from 'postgres';
import { UsageError } from '../errors.ts';
import type { DatasetSettings, Watched } from './active-feed.ts';
import { lives, type Registrant } from './configuration.ts';
import { targetKey } from './target-key.ts';

/**
 * Stores what a feed wants of which targets, so that the freshness of each is known. Targets that left the configuration
 * are not wanted any more. The expected begin of a recording is fixed when it is first wanted. Nothing is taken from
 * another recorder that lives, and a recorder whose configuration is not the newest writes nothing.
 */
export async function registerTargets(
  sql: postgres.Sql,
  { source, datasets, targets }: Watched,
  now: number,
  by: Registrant = { recorder: 'recorder', digest: null },
): Promise<void> {
  const { range } = source;
  const keys = targets.map(targetKey);
  const expectedFrom = ({ since }: DatasetSettings) =>
    range?.axis === 'time' ? (since ?? now - range.lookback) : null;
  await sql`
    with entitled as materialized (${entitled(sql, by)}), asked as materialized (
      select a.* from entitled,
        unnest(${keys}::text[], ${targets.map((target) => JSON.stringify(target))}::text[]) as a(key, target)
      where not exists (select from recorder.targets o where o.source = ${source.name} and o.target_key = a.key
        and o.recorder <> ${by.recorder} and ${lives(sql, sql`o.recorder`)})
    ), known as (
      insert into recorder.targets as k (source, target_key, target, recorder)
      select ${source.name}, key, target::jsonb, ${by.recorder} from asked order by key
      on conflict (source, target_key) do update set recorder = excluded.recorder
      where k.recorder is distinct from excluded.recorder
    ), wanted as (
      insert into recorder.target_datasets as t (source, target_key, dataset, every_ms, once, active, wanted_at, expected_from)
      select ${source.name}, asked.key, d.dataset, d.every_ms, ${source.once ?? false}, true, ${new Date(now)}, d.expected_from
      from asked, unnest(${datasets.map(({ name }) => name)}::text[], ${datasets.map(({ every }) => every)}::bigint[],
        ${datasets.map(expectedFrom)}::bigint[]) as d(dataset, every_ms, expected_from)
      on conflict (source, target_key, dataset) do update set active = true, left_at = null, ended_at = null,
        every_ms = excluded.every_ms, once = excluded.once, wanted_at = case when t.active then t.wanted_at else excluded.wanted_at end,
        expected_from = least(t.expected_from, excluded.expected_from)
      where not t.active or (t.every_ms, t.once) <> (excluded.every_ms, excluded.once)
        or excluded.expected_from < coalesce(t.expected_from, 9223372036854775807)
    )
    update recorder.target_datasets d set active = false, left_at = ${new Date(now)}, ended_at = null
    from entitled where d.source = ${source.name} and d.active and ${ownedBy(sql, by)}
      and not (target_key = any(${keys}::text[]) and dataset = any(${datasets.map(({ name }) => name)}::text[]))`;
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
  await sql`
    with entitled as materialized (${entitled(sql, by)})
    update recorder.target_datasets d set active = false, left_at = ${new Date(now)}, ended_at = null
    from entitled where d.active and ${ownedBy(sql, by)} and d.source <> all(${feeds.map(({ source }) => source.name)}::text[])`;
  // The schedules of a recorder of which nothing is wanted any more, such as one that was renamed, are not missed.
  await sql`
    delete from recorder.schedules s where s.recorder <> ${by.recorder} and not exists (
      select from recorder.target_datasets d join recorder.targets t using (source, target_key)
      where d.active and t.recorder = s.recorder)`;
  await refuseTaken(sql, feeds, by); // two may have begun at once
}

async function refuseTaken(sql: postgres.Sql, feeds: readonly Watched[], by: Registrant): Promise<void> {
  const taken: string[] = [];
  for (const feed of feeds) taken.push(...(await takenTargets(sql, feed, by)));
  if (taken.length > 0) throw new UsageError(taken);
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
function entitled(sql: postgres.Sql, { recorder, digest }: Registrant) {
  return digest === null
    ? sql`select 1`
    : sql`select 1 from recorder.configurations where recorder = ${recorder} and digest = ${digest} and newest for share`;
}

/** SQL: the target of `d` belongs to the registrant. */
function ownedBy(sql: postgres.Sql, { recorder }: Registrant) {
  return sql`exists (select from recorder.targets t
    where (t.source, t.target_key) = (d.source, d.target_key) and t.recorder = ${recorder})`;
}
