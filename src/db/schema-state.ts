import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import { type Declared, definition, signature } from './declared.ts';

/** What stands in `reporting`. */
export const STANDING = `
  select 'view' as kind, c.oid, concat('pg_class'::regclass::oid, '/', c.oid) as key, c.relname as name, c.relname::text as signature
  from pg_class c where c.relnamespace = to_regnamespace('reporting') and c.relkind = 'v'
  union all
  select 'function', p.oid, concat('pg_proc'::regclass::oid, '/', p.oid), p.proname,
    format('%s(%s)', p.proname, oidvectortypes(p.proargtypes))
  from pg_proc p where p.pronamespace = to_regnamespace('reporting') and p.prokind = 'f'`;

/** What a standing object says, as a digest. PostgreSQL writes the text from what it has parsed, which takes it half a millisecond each. */
export const BODY = `md5(case s.kind when 'view' then pg_get_viewdef(s.oid) else pg_get_functiondef(s.oid) end)`;

/** Its comments, as a digest. */
const COMMENTS = `md5(concat(obj_description(s.oid, case s.kind when 'view' then 'pg_class' else 'pg_proc' end),
  (select string_agg(concat(E'\\n', a.attname, ' ', col_description(a.attrelid, a.attnum)), '' order by a.attnum)
    from pg_attribute a where s.kind = 'view' and a.attrelid = s.oid and a.attnum > 0)))`;

/** Declared objects, with what stands in their places; $1 as {@link asRows} makes it. */
export const PLACES = `
  from jsonb_to_recordset($1::text::jsonb) as d(place int, kind text, signature text, digest text)
  left join (${STANDING}) s on s.key = case d.kind
    when 'view' then concat('pg_class'::regclass::oid, '/', to_regclass('reporting.' || d.signature)::oid)
    else concat('pg_proc'::regclass::oid, '/', to_regprocedure('reporting.' || d.signature)::oid) end`;

/** Declared objects as {@link PLACES} takes them. */
export const asRows = (declared: readonly Declared[]) =>
  JSON.stringify(
    declared.map((object, place) => {
      const digest = createHash('sha256').update(definition(object)).digest('hex');
      return { place, kind: object.kind, signature: signature(object), digest };
    }),
  );

/** What is noted of an object when it was made: what {@link asRows} says of it, and what stands then. */
export const NOTE = `concat_ws(' ', d.digest, ${BODY}, ${COMMENTS})`;

/** What was noted of an object when it was made still holds. */
export const WHOLE = `coalesce(o.definition = ${NOTE}, false)`;

/**
 * Whether every declared object stands as it is declared, and nothing else of ours does. To ask once is a small part of what it costs to be
 * ready for a change, and nearly every start finds nothing to do.
 */
export async function standsAsDeclared(sql: postgres.Sql, declared: readonly Declared[]): Promise<boolean> {
  const [table] = await sql`select to_regclass('recorder.reporting_objects') as found`;
  if (!table?.found) return false;
  const [found] = await sql.unsafe<{ whole: boolean }[]>(
    `select coalesce(bool_and(${WHOLE}), true) and count(*) = (select count(*) from recorder.reporting_objects) as whole
    ${PLACES} left join recorder.reporting_objects o on o.name = s.signature`,
    [asRows(declared)],
  );
  return found?.whole === true;
}
