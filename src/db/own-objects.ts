import type postgres from 'postgres';
import { type Declared, REPORTING_SCHEMAS, signature } from './declared.ts';
import { READER_ROLE } from './reader-functions.ts';
import { attempt } from './transaction.ts';

/** A constraint, index, default, NOT NULL or right of the recorder, and the statement that creates it. */
interface OwnObject {
  readonly name: string;
  readonly statement: string;
}

/** SQL query: the existing constraints, indexes, defaults and NOT NULL of the recorder's tables. */
const EXISTING_TABLE_OBJECTS = `
  select format('constraint %s on recorder.%I', k.conname, c.relname) as name,
    format('alter table recorder.%I add constraint %I %s', c.relname, k.conname, pg_get_constraintdef(k.oid)) as statement
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where k.connamespace = 'recorder'::regnamespace and k.contype in ('p', 'u', 'c', 'f', 'x')
  union all
  select format('index recorder.%I', c.relname), pg_get_indexdef(c.oid)
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = 'recorder'::regnamespace and i.indisvalid and not exists (select from pg_constraint k where k.conindid = c.oid)
  union all
  select format('default of recorder.%I.%I', c.relname, a.attname),
    format('alter table recorder.%I alter column %I set default %s', c.relname, a.attname, pg_get_expr(d.adbin, d.adrelid))
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_attrdef d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
  where c.relnamespace = 'recorder'::regnamespace and c.relkind in ('r', 'p') and a.attgenerated = ''
  union all
  select format('not null of recorder.%I.%I', c.relname, a.attname),
    format('alter table recorder.%I alter column %I set not null', c.relname, a.attname)
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'recorder'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and a.attnotnull and not a.attisdropped`;

/** Stores the current objects of the recorder's tables, for {@link missingObjects}. */
export async function noteOwnObjects(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`delete from recorder.own_objects;
    insert into recorder.own_objects (name, statement) select name, statement from (${EXISTING_TABLE_OBJECTS}) s`);
}

/**
 * Returns the objects and the reader's rights that existed after the last migration and are missing now.
 * Returns an empty list for a database that was never migrated.
 */
export async function missingObjects(
  sql: postgres.Sql,
  declared: readonly Declared[],
): Promise<readonly OwnObject[]> {
  const [table] = await sql<{ found: string | null }[]>`select to_regclass('recorder.own_objects') as found`;
  if (!table?.found) return [];
  const objects = await sql.unsafe<OwnObject[]>(
    `select o.name, o.statement from recorder.own_objects o
    where o.name not in (select name from (${EXISTING_TABLE_OBJECTS}) s)
    order by case split_part(o.name, ' ', 1) when 'constraint' then 1 when 'index' then 2 else 3 end, o.name`,
  );
  return [...objects, ...(await missingRights(sql, declared))];
}

/** Returns the rights that the reader lacks on the schema, the views and the functions of `reporting`. */
async function missingRights(
  sql: postgres.Sql,
  declared: readonly Declared[],
): Promise<readonly OwnObject[]> {
  // Separate lists by kind: before PostgreSQL 16, parsing a function's signature as the name of a view raises
  // an error.
  const named = (kind: Declared['kind']) =>
    sql.json(declared.filter((one) => one.kind === kind).map(signature));
  return sql<OwnObject[]>`
    with reader as (select oid from pg_roles where rolname = ${READER_ROLE})
    select ${`the right of ${READER_ROLE} on `} || what as name, ${'grant '} || action || ${` to ${READER_ROLE}`} as statement from (
      select 'schema ' || n.nspname as what, 'usage on schema ' || n.nspname as action, 0 as place
      from reader, pg_namespace n where n.nspname = any (${[...REPORTING_SCHEMAS]}) and not has_schema_privilege(reader.oid, n.oid, 'usage')
      union all
      select 'view ' || d.name, 'select on ' || d.name, 1
      from reader, jsonb_array_elements_text(${named('view')}) as d(name)
      where to_regclass(d.name) is not null and not has_table_privilege(oid, to_regclass(d.name), 'select')
      union all
      select 'function ' || d.name, 'execute on function ' || d.name, 2
      from reader, jsonb_array_elements_text(${named('function')}) as d(name)
      where to_regprocedure(d.name) is not null
        and not has_function_privilege(oid, to_regprocedure(d.name), 'execute')
    ) missing order by place, what`;
}

/** Restores missing objects. Returns a message with the reason for each object that could not be restored. */
export async function restoreOwnObjects(sql: postgres.Sql, declared: readonly Declared[]): Promise<string[]> {
  const notices: string[] = [];
  for (const { name, statement } of await missingObjects(sql, declared)) {
    const refused = await attempt(sql, statement);
    if (refused)
      notices.push(
        `${name} is missing and could not be restored (${refused.detail ?? refused.message}): fix the cause, and run "chain-recorder migrate"`,
      );
  }
  return notices;
}
