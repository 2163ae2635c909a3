import type postgres from 'postgres';
import { UsageError } from '../lib/errors.ts';

/** Identifies an object of a database by its catalog and OID, such as `1259/16384`. */
export type ObjectKey = string;

/** An object that depends on another one, with the statements that drop it and create it again. */
export interface Dependent {
  readonly key: ObjectKey;
  /** Type and name as text, such as `view public.mine`. */
  readonly description: string;
  /**
   * The statement that drops the object; null if the object has to be changed by hand, such as a column of a
   * table.
   */
  readonly drop: string | null;
  /** Statements that create the object, without its rights. */
  readonly create: readonly string[];
  /** Statements that grant the rights on the object again. */
  readonly grants: readonly string[];
}

/** Objects whose dependents are queried. */
export interface DependencyRoots {
  readonly keys: readonly ObjectKey[];
  /** Columns of the roots: only objects that read one of them count as dependents. Default: all columns. */
  readonly columns?: readonly string[];
}

/**
 * SQL query: the parts of relations (queries, defaults, row types), each with the relation that contains the
 * part.
 */
const PARTS = `
  select 'pg_rewrite'::regclass::oid as classid, oid as objid, 'pg_class'::regclass::oid as class, ev_class as oid
    from pg_rewrite where rulename = '_RETURN'
  union all select 'pg_attrdef'::regclass, oid, 'pg_class'::regclass, adrelid from pg_attrdef
  union all select 'pg_type'::regclass, t.oid, 'pg_class'::regclass, coalesce(nullif(t.typrelid, 0), e.typrelid)
    from pg_type t left join pg_type e on e.oid = t.typelem where t.typrelid <> 0 or e.typrelid <> 0`;

const GRANTEE = `case g.grantee when 0 then 'public' else format('%I', pg_get_userbyid(g.grantee)) end
    || case when g.is_grantable then ' with grant option' else '' end`;

const CREATE_RELATION = `array[format('create %s%s as%s', v.object, ' with (' || array_to_string(c.reloptions, ', ') || ')',
      E'\\n' || rtrim(pg_get_viewdef(c.oid), ';'))]
    || array(select format('alter view %s alter column %I set default %s', v.identity, a.attname, pg_get_expr(d.adbin, d.adrelid))
      from pg_attrdef d join pg_attribute a on (a.attrelid, a.attnum) = (d.adrelid, d.adnum) where d.adrelid = c.oid)
    || array(select format('comment on column %s.%I is %L', v.identity, a.attname, col_description(c.oid, a.attnum))
      from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and col_description(c.oid, a.attnum) is not null)`;

const GRANTS = `array(
      select format('grant %s on %s to %s', g.privilege_type, v.identity, ${GRANTEE})
      from aclexplode(c.relacl) g where g.grantee <> c.relowner
      union all
      select format('grant %s (%I) on %s to %s', g.privilege_type, a.attname, v.identity, ${GRANTEE})
      from pg_attribute a, aclexplode(a.attacl) g where a.attrelid = c.oid and a.attnum > 0 and g.grantee <> c.relowner)
    || array(select format('revoke all on %s from public', v.object) from aclexplode(p.proacl) limit 1)
    || array(select format('grant %s on %s to %s', g.privilege_type, v.object, ${GRANTEE})
      from aclexplode(p.proacl) g where g.grantee <> p.proowner)`;

const DEPENDENTS = `
  with recursive parts as materialized (${PARTS}),
  edges as materialized (
    select distinct coalesce(a.class, d.classid) as class, coalesce(a.oid, d.objid) as oid,
      coalesce(b.class, d.refclassid) as on_class, coalesce(b.oid, d.refobjid) as on_oid, d.refobjsubid as on_column
    from pg_depend d
    left join parts a using (classid, objid)
    left join parts b on (b.classid, b.objid) = (d.refclassid, d.refobjid)
    left join pg_class c on d.classid = 'pg_class'::regclass and c.oid = d.objid
    where d.deptype in ('n', 'a', 'i') and d.classid <> 'pg_constraint'::regclass
      and coalesce(c.relnamespace::regnamespace::text, '') not in ('recorder', 'pg_toast')),
  roots as (select split_part(key, '/', 1)::oid as class, split_part(key, '/', 2)::oid as oid from unnest(string_to_array($1, ' ')) as key),
  affected(class, oid, depth) as (
    select class, oid, 0 from roots
    union
    select e.class, e.oid, a.depth + 1 from edges e join affected a on (e.on_class, e.on_oid) = (a.class, a.oid)
    where (e.class, e.oid) <> (a.class, a.oid) and a.depth < 100
      and (a.depth > 0 or $2 = '' or exists (
        select from pg_attribute t where (t.attrelid, t.attnum) = (e.on_oid, e.on_column) and t.attname = any (string_to_array($2, ' ')))))
  select concat(a.class, '/', a.oid) as key, v.description,
    case when c.relkind in ('v', 'm', 'i') or p.prokind in ('f', 'p', 'w') or v.type in ('trigger', 'rule')
      then 'drop ' || v.object end as drop,
    case when c.relkind in ('v', 'm') then ${CREATE_RELATION}
      when c.relkind = 'i' then array[pg_get_indexdef(c.oid)]
      when p.prokind in ('f', 'p', 'w') then array[pg_get_functiondef(p.oid)]
      when v.type = 'trigger' then array[pg_get_triggerdef(a.oid)]
      when v.type = 'rule' then array[pg_get_ruledef(a.oid)] else '{}' end
    || array(select format('comment on %s is %L', v.object, m) from obj_description(a.oid, a.class::regclass::name) m where m is not null)
    || array(select format('alter %s owner to %I', v.object, pg_get_userbyid(o.owner))
      from (select coalesce(p.proowner, c.relowner) as owner where c.relkind in ('v', 'm') or p.oid is not null) o
      where pg_get_userbyid(o.owner) <> current_user) as create,
    ${GRANTS} as grants
  from (select class, oid, max(depth) as depth from affected group by 1, 2) a
  cross join lateral (
    select i.type, i.identity, i.type || ' ' || i.identity as object, pg_describe_object(a.class, a.oid, 0) as description
    from pg_identify_object(a.class, a.oid, 0) i) v
  left join pg_class c on a.class = 'pg_class'::regclass and c.oid = a.oid
  left join pg_proc p on a.class = 'pg_proc'::regclass and p.oid = a.oid
  order by a.depth, v.object`;

/**
 * Returns the roots and everything that depends on them, each after all objects that it depends on. Functions
 * are found if PostgreSQL parsed their body when they were created (BEGIN ATOMIC), or by the types of their
 * parameters and result.
 */
export async function dependentsOf(
  sql: postgres.Sql,
  { keys, columns = [] }: DependencyRoots,
): Promise<readonly Dependent[]> {
  return sql.unsafe<Dependent[]>(DEPENDENTS, [keys.join(' '), columns.join(' ')]);
}

/**
 * Returns the error of a migration that objects of users prevent, with the statements to run before and after
 * the migration.
 */
export function dependentsError(theirs: readonly Dependent[]): UsageError {
  const lines = (when: string, statements: readonly string[]) =>
    statements.map((statement) => `${when} ${statement.trim().replace(/;$/, '')};`);
  return new UsageError([
    `reporting: objects of yours depend on what this version changes, and nothing was changed: ${theirs.map(({ description }) => description).join(', ')}`,
    ...theirs
      .toReversed()
      .flatMap(({ description, drop }) =>
        drop === null ? [`first change or drop ${description}`] : lines('before:', [drop]),
      ),
    'then run "chain-recorder migrate", and create again what you need',
    ...theirs.flatMap(({ create, grants }) => lines('after: ', [...create, ...grants])),
  ]);
}
