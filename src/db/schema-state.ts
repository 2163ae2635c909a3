import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import { type Declared, definition, literal, REPORTING_SCHEMAS, signature } from './declared.ts';

const SCHEMAS = REPORTING_SCHEMAS.map(literal).join(', ');

/** SQL query: the existing objects of all {@link REPORTING_SCHEMAS}. */
export const EXISTING_REPORTING_OBJECTS = `
  select 'view' as kind, c.oid, concat('pg_class'::regclass::oid, '/', c.oid) as key, format('%s.%s', n.nspname, c.relname) as signature
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname in (${SCHEMAS}) and c.relkind = 'v'
  union all
  select 'function', p.oid, concat('pg_proc'::regclass::oid, '/', p.oid),
    format('%s.%s(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes))
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in (${SCHEMAS}) and p.prokind = 'f'`;

/**
 * SQL expression: digest of an existing object's definition. PostgreSQL generates the text from its parse
 * tree, which takes 0.5 ms per object.
 */
export const DEFINITION_DIGEST = `md5(case s.kind when 'view' then pg_get_viewdef(s.oid) else pg_get_functiondef(s.oid) end)`;

/** SQL expression: digest of the comments of an existing object. */
const COMMENTS_DIGEST = `md5(concat(obj_description(s.oid, case s.kind when 'view' then 'pg_class' else 'pg_proc' end),
  (select string_agg(concat(E'\\n', a.attname, ' ', col_description(a.attrelid, a.attnum)), '' order by a.attnum)
    from pg_attribute a where s.kind = 'view' and a.attrelid = s.oid and a.attnum > 0)))`;

/**
 * SQL FROM clause: declared objects, joined with the existing objects of the same name. $1 is a result of
 * {@link encodeDeclared}.
 */
export const DECLARED_WITH_EXISTING = `
  from jsonb_to_recordset($1::text::jsonb) as d(place int, kind text, signature text, digest text)
  left join (${EXISTING_REPORTING_OBJECTS}) s on s.key = case d.kind
    when 'view' then concat('pg_class'::regclass::oid, '/', to_regclass(d.signature)::oid)
    else concat('pg_proc'::regclass::oid, '/', to_regprocedure(d.signature)::oid) end`;

/** Encodes declared objects for {@link DECLARED_WITH_EXISTING}. */
export const encodeDeclared = (declared: readonly Declared[]) =>
  JSON.stringify(
    declared.map((object, place) => {
      const digest = createHash('sha256').update(definition(object)).digest('hex');
      return { place, kind: object.kind, signature: signature(object), digest };
    }),
  );

/**
 * SQL expression: the state to store for an object when it is created. The state consists of the digest from
 * {@link encodeDeclared} and the digests of the created object.
 */
export const OBJECT_STATE = `concat_ws(' ', d.digest, ${DEFINITION_DIGEST}, ${COMMENTS_DIGEST})`;

/** SQL expression: whether the stored state of an object still matches the object. */
export const IS_UNCHANGED = `coalesce(o.definition = ${OBJECT_STATE}, false)`;

/**
 * Returns whether every declared object matches its declaration, and the recorder has no other objects in
 * these schemas. This query is much cheaper than preparing a change, and nearly every start needs no change.
 */
export async function matchesDeclaration(sql: postgres.Sql, declared: readonly Declared[]): Promise<boolean> {
  const [table] = await sql`select to_regclass('recorder.reporting_objects') as found`;
  if (!table?.found) return false;
  const [found] = await sql.unsafe<{ whole: boolean }[]>(
    `select coalesce(bool_and(${IS_UNCHANGED}), true) and count(*) = (select count(*) from recorder.reporting_objects) as whole
    ${DECLARED_WITH_EXISTING} left join recorder.reporting_objects o on o.name = s.signature`,
    [encodeDeclared(declared)],
  );
  return found?.whole === true;
}
