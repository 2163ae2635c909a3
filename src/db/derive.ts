import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import postgres from 'postgres';
import { UsageError } from '../errors.ts';
import { type Declared, definition, inOrder, literal } from './declared.ts';

const READER = new URL('../../drizzle/reader.sql', import.meta.url);

/** What stands in the database under a declared object's name, in digest; null: nothing. */
const STANDING = `case d.kind
  when 'view' then (select md5(pg_get_viewdef(c.oid)) from pg_class c
    where c.relnamespace = 'reporting'::regnamespace and c.relname = d.name and c.relkind = 'v')
  else (select md5(string_agg(pg_get_functiondef(p.oid), '' order by p.oid)) from pg_proc p
    where p.pronamespace = 'reporting'::regnamespace and p.proname = d.name) end`;

/**
 * Makes every object of `reporting` as it is declared, in one transaction: all of it or nothing. What was changed or dropped
 * by hand is made whole. `create or replace` keeps what users built upon it; where columns moved, only declared objects are
 * dropped, in the order of their dependencies, and made anew.
 * @throws UsageError when an object of the user stands in the way; then nothing was changed
 */
export async function deriveReporting(sql: postgres.Sql, declared: readonly Declared[]): Promise<void> {
  await sql.unsafe('create schema if not exists reporting');
  await sql.unsafe(readFileSync(READER, 'utf8'));
  const wanted = JSON.stringify(
    inOrder(declared).map((object, place) => {
      const create = definition(object);
      const digest = createHash('sha256').update(create).digest('hex');
      return { place, name: object.name, kind: object.kind, create, digest };
    }),
  );
  const columns = 'place int, name text, kind text, "create" text, digest text';
  const [row] = await sql.unsafe<{ whole: boolean }[]>(
    `select bool_and(coalesce(o.definition = d.digest || ' ' || ${STANDING}, false)) as whole
    from jsonb_to_recordset($1::text::jsonb) as d(${columns}) left join recorder.reporting_objects o using (name)`,
    [wanted],
  );
  if (row?.whole) return;
  // One text and no transaction of the driver: with postgres.js 3.4.9 one whose connection is cut is never settled.
  await sql
    .unsafe(
      `begin;
      create temp table derived on commit drop as
        select * from jsonb_to_recordset(${literal(wanted)}::jsonb) as d(${columns});
      ${MAKE_ALL};
      insert into recorder.reporting_objects as o (name, definition)
        select d.name, d.digest || ' ' || ${STANDING} from derived d
        on conflict (name) do update set definition = excluded.definition;
      grant select on all tables in schema reporting to recorder_reader;
      commit`,
    )
    .catch((error: unknown) => {
      throw inTheWay(error) ?? error;
    });
}

/** Makes each in its order; of one that cannot be replaced, it and what is derived from it are dropped first. */
const MAKE_ALL = `do $all$
declare
  one record;
  standing record;
begin
  for one in select * from derived order by place loop
    begin
      execute one."create";
    exception when invalid_table_definition or invalid_function_definition then
      for standing in
        with recursive edges as (
          select coalesce(r.ev_class, d.objid) as upon, coalesce(t.typrelid, d.refobjid) as stands
          from pg_depend d
          left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
          left join pg_type t on d.refclassid = 'pg_type'::regclass and t.oid = d.refobjid and t.typrelid <> 0
          where d.classid in ('pg_rewrite'::regclass, 'pg_proc'::regclass)
        ), named as (
          select oid, relname as name from pg_class
            where relnamespace = 'reporting'::regnamespace and relkind = 'v'
          union all
          select oid, proname from pg_proc where pronamespace = 'reporting'::regnamespace
        ), affected as (
          select oid from named where name = one.name
          union
          select e.upon from edges e join affected a on e.stands = a.oid
        )
        select distinct d.place, d.kind, d.name from derived d join named using (name) join affected using (oid)
        order by d.place desc
      loop
        execute format('drop %s reporting.%I', standing.kind, standing.name);
      end loop;
      execute one."create";
    end;
  end loop;
end $all$`;

/** The words for a user whose own object keeps one of ours from being replaced; null for any other error. */
function inTheWay(error: unknown): UsageError | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  const mend = 'chain-recorder drops nothing that it did not make';
  // Dependent objects, an object of another kind under the name, a second function of the name.
  if (error.code === '2BP01')
    return new UsageError([
      `reporting: ${error.detail ?? error.message}`,
      `reporting: ${mend}: drop the dependent ones, run "chain-recorder migrate", and make them again`,
    ]);
  if (error.code === '42809' || error.code === '42725')
    return new UsageError([
      `reporting: ${error.message}`,
      `reporting: ${mend}: rename it, and run "chain-recorder migrate"`,
    ]);
  return null;
}
