import type postgres from 'postgres';
import { LOCK_SCHEMA } from './row-lock.ts';

/** The schema that stands in a database while a backup is restored into it. Nothing else of the recorder works there then. */
export const RESTORE_SCHEMA = 'recorder_restore';

/** How far a restore has come: `loading` is one transaction of pg_restore, `checking` comes after it. */
export interface RestoreMark {
  /** The SHA-256 of the dump. */
  readonly backup: string;
  readonly stage: 'loading' | 'checking' | 'finishing';
}

/** Why a database cannot be worked with: a restore is under way in it, or was cut off; null: neither. */
export async function restoreProblem(sql: postgres.Sql): Promise<string | null> {
  return (await readMark(sql)) === null
    ? null
    : 'a backup is being restored into this database, or that was cut off: wait for it, or run the same "chain-recorder restore" again';
}

/** The mark of a restore; null: there is none. */
export async function readMark(sql: postgres.Sql): Promise<RestoreMark | null> {
  const [there] = await sql`select to_regclass(${`${RESTORE_SCHEMA}.mark`}) as mark`;
  if (!there?.mark) return null;
  const [mark] = await sql<RestoreMark[]>`select backup, stage from ${sql(RESTORE_SCHEMA)}.mark`;
  return mark ?? null;
}

/** Notes how far a restore has come. */
export async function setMark(sql: postgres.Sql, { backup, stage }: RestoreMark): Promise<void> {
  await sql.unsafe(`create schema if not exists ${RESTORE_SCHEMA};
    create table if not exists ${RESTORE_SCHEMA}.mark (
      only_one boolean primary key default true check (only_one), backup text not null, stage text not null);
    insert into ${RESTORE_SCHEMA}.mark (backup, stage) values ('${backup}', '${stage}')
      on conflict (only_one) do update set backup = excluded.backup, stage = excluded.stage`);
}

/** The restore is done: the database is a record like any other. */
export async function clearMark(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`drop schema ${RESTORE_SCHEMA} cascade`);
}

/** What somebody made in a database, up to five names; empty: nothing. */
export async function madeIn(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from (
      select 'schema ' || nspname as name, 1 as place from pg_namespace
      where nspname !~ '^pg_' and nspname not in ('information_schema', 'public', ${RESTORE_SCHEMA}, ${LOCK_SCHEMA})
      union all
      select format('%I.%I', 'public', c.relname), 2 from pg_class c
      where c.relnamespace = to_regnamespace('public') and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      union all
      select format('%s(…)', p.oid::regproc), 3 from pg_proc p
      where p.pronamespace = to_regnamespace('public')
        and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    ) made order by place, name limit 5`;
  return rows.map(({ name }) => name);
}
