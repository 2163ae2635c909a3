import type postgres from 'postgres';
import type { ObjectKey } from './dependents.ts';
import { Refused } from './transaction.ts';

/** What was given to an object besides what makes it. */
export interface Given {
  readonly key: ObjectKey;
  readonly identity: string;
  readonly kind: 'view' | 'materialized view' | 'routine';
  /** Defaults, rules, triggers and indexes, and its owner where that is not who migrates. */
  readonly additions: readonly string[];
  readonly grants: readonly string[];
}

/** How an object is made again after it was dropped. */
export interface SavedObject extends Given {
  readonly owner: string;
  /** The statement that makes it. */
  readonly create: string;
  readonly comments: readonly string[];
}

const GRANTEE = `case g.grantee when 0 then 'public' else format('%I', pg_get_userbyid(g.grantee)) end
    || case when g.is_grantable then ' with grant option' else '' end`;

const SAVED_VIEWS = `
  select concat('pg_class'::regclass::oid, '/', c.oid) as key, v.id as identity, v.kind, pg_get_userbyid(c.relowner) as owner,
    format('create %s %s%s as%s', v.kind, v.id, ' with (' || array_to_string(c.reloptions, ', ') || ')',
      E'\\n' || rtrim(pg_get_viewdef(c.oid), ';')) as create,
    array(
      select * from (
        select format('comment on %s %s is %L', v.kind, v.id, obj_description(c.oid, 'pg_class')) as made
        union all
        select format('comment on column %s.%I is %L', v.id, a.attname, col_description(c.oid, a.attnum))
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 order by 1) m where made not like '% is NULL') as comments,
    array(
      select format('alter view %s alter column %I set default %s', v.id, a.attname, pg_get_expr(d.adbin, d.adrelid))
      from pg_attrdef d join pg_attribute a on (a.attrelid, a.attnum) = (d.adrelid, d.adnum) where d.adrelid = c.oid
      union all
      select pg_get_ruledef(r.oid) from pg_rewrite r where r.ev_class = c.oid and r.rulename <> '_RETURN'
      union all
      select pg_get_triggerdef(t.oid) from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal
      union all
      select pg_get_indexdef(i.indexrelid) from pg_index i where i.indrelid = c.oid
      union all
      select format('alter %s %s owner to %I', v.kind, v.id, pg_get_userbyid(c.relowner)) where pg_get_userbyid(c.relowner) <> current_user
    ) as additions,
    array(
      select format('grant %s on %s to %s', g.privilege_type, v.id, ${GRANTEE})
      from aclexplode(c.relacl) g where g.grantee <> c.relowner
      union all
      select format('grant %s (%I) on %s to %s', g.privilege_type, a.attname, v.id, ${GRANTEE})
      from pg_attribute a, aclexplode(a.attacl) g where a.attrelid = c.oid and a.attnum > 0 and g.grantee <> c.relowner
    ) as grants
  from pg_class c cross join lateral (select format('%I.%I', c.relnamespace::regnamespace::name, c.relname) as id,
    case c.relkind when 'v' then 'view' else 'materialized view' end as kind) v
  where c.relkind in ('v', 'm')`;

const SAVED_ROUTINES = `
  select concat('pg_proc'::regclass::oid, '/', p.oid), v.id, 'routine', pg_get_userbyid(p.proowner), pg_get_functiondef(p.oid),
    array(select format('comment on routine %s is %L', v.id, text) from obj_description(p.oid, 'pg_proc') as text where text is not null),
    array(select format('alter routine %s owner to %I', v.id, pg_get_userbyid(p.proowner)) where pg_get_userbyid(p.proowner) <> current_user),
    array(select format('grant %s on routine %s to %s', g.privilege_type, v.id, ${GRANTEE})
      from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g where g.grantee <> p.proowner)
  from pg_proc p cross join lateral (select p.oid::regprocedure::text as id) v
  where p.prokind in ('f', 'p', 'w')`;

/** Everything that makes views, materialised ones too, and routines again, as they stand. Other objects are left out. */
export const saveObjects = (sql: postgres.Sql, keys: readonly ObjectKey[]) =>
  saved<SavedObject>(sql, keys, '*');

/** As {@link saveObjects}, only what was given to them: their texts are what takes long. */
export const saveGiven = (sql: postgres.Sql, keys: readonly ObjectKey[]) =>
  saved<Given>(sql, keys, 'key, identity, kind, additions, grants');

async function saved<Saved extends Given>(
  sql: postgres.Sql,
  keys: readonly ObjectKey[],
  columns: string,
): Promise<Map<ObjectKey, Saved>> {
  const oids = (catalog: string) =>
    `select split_part(key, '/', 2)::oid from unnest(string_to_array($1, ' ')) as key
      where split_part(key, '/', 1)::oid = '${catalog}'::regclass`;
  const rows = await sql.unsafe<Saved[]>(
    `select ${columns} from (
      ${SAVED_VIEWS} and c.oid in (${oids('pg_class')})
      union all ${SAVED_ROUTINES} and p.oid in (${oids('pg_proc')})) o`,
    [keys.join(' ')],
  );
  return new Map(rows.map((row) => [row.key, row]));
}

/** What an object reads: columns of relations, as `schema.name.column`, and by function the columns of its rows. */
export interface Reads {
  readonly columns: readonly string[];
  readonly functions: Readonly<Record<string, readonly string[]>>;
}

type Named = Pick<SavedObject, 'identity' | 'kind'>;

/** What objects read, by their names; of routines as far as PostgreSQL knows it. */
export async function readsOf(sql: postgres.Sql, objects: readonly Named[]): Promise<Map<string, Reads>> {
  const rows = await sql.unsafe<(Reads & { identity: string })[]>(
    `select o.identity,
      array(select distinct format('%s.%s', d.refobjid::regclass, a.attname)
        from pg_depend d join pg_attribute a on d.refclassid = 'pg_class'::regclass and (a.attrelid, a.attnum) = (d.refobjid, d.refobjsubid)
        where (d.classid, d.objid) = (s.classid, s.objid) order by 1) as columns,
      (select coalesce(json_object_agg(distinct p.oid::regprocedure::text, coalesce(
          (select json_agg(u.name order by u.place) from unnest(p.proargnames, p.proargmodes) with ordinality as u(name, mode, place)
            where u.mode in ('t', 'o')),
          (select json_agg(a.attname order by a.attnum) from pg_type t join pg_attribute a on a.attrelid = t.typrelid
            where t.oid = p.prorettype and a.attnum > 0 and not a.attisdropped), '[]')::jsonb), '{}')
        from pg_depend d join pg_proc p on d.refclassid = 'pg_proc'::regclass and p.oid = d.refobjid
        where (d.classid, d.objid) = (s.classid, s.objid)) as functions
    from jsonb_to_recordset($1::text::jsonb) as o(identity text, kind text)
    cross join lateral (
      select 'pg_rewrite'::regclass as classid, r.oid as objid from pg_rewrite r
      where o.kind = 'view' and r.ev_class = to_regclass(o.identity) and r.rulename = '_RETURN'
      union all
      select 'pg_proc'::regclass, to_regprocedure(o.identity) where o.kind = 'routine') s`,
    [JSON.stringify(objects.map(({ identity, kind }) => ({ identity, kind })))],
  );
  return new Map(rows.map(({ identity, columns, functions }) => [identity, { columns, functions }]));
}

/**
 * PostgreSQL writes some columns of a query by their places: the rows of functions, and relations whose columns have other
 * names there. What is made again of such a text could read another column under the name of the old one.
 * @throws Refused when it does
 */
export function refuseOtherColumns(before: Reads, after: Reads | undefined): void {
  if (!after) return;
  if (before.columns.join() !== after.columns.join())
    throw new Refused('it would read other columns than before');
  for (const [name, columns] of Object.entries(before.functions)) {
    const now = after.functions[name];
    if (now && columns.some((column, place) => now[place] !== column))
      throw new Refused(`the columns of ${name} have changed places`);
  }
}

/** Takes from a new object the rights that new objects get by default; its owner keeps his. */
export async function revokeDefaults(sql: postgres.Sql, { identity, kind }: Given): Promise<void> {
  const acl =
    kind !== 'routine'
      ? 'select c.relacl as acl, c.relowner as owner from pg_class c where c.oid = $1::text::regclass'
      : `select coalesce(p.proacl, acldefault('f', p.proowner)) as acl, p.proowner as owner from pg_proc p
        where p.oid = $1::text::regprocedure`;
  const rows = await sql.unsafe<{ grantee: string }[]>(
    `select distinct case g.grantee when 0 then 'public' else format('%I', pg_get_userbyid(g.grantee)) end as grantee
    from (${acl}) o, aclexplode(o.acl) g where g.grantee <> o.owner`,
    [identity],
  );
  const object = kind === 'routine' ? `routine ${identity}` : identity;
  for (const { grantee } of rows) await sql.unsafe(`revoke all on ${object} from ${grantee}`);
}

/** The text that makes an object again, for psql. */
export function script(saved: SavedObject): string {
  return [saved.create, ...saved.comments, ...saved.additions, ...saved.grants]
    .map((statement) => `${statement.trimEnd().replace(/;$/, '')};\n`)
    .join('');
}
