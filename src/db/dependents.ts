import type postgres from 'postgres';

/** Anything in a database, by its catalog and number there, such as `1259/16384`. */
export type ObjectKey = string;

/** An object that could not stand without another one. */
export interface Dependent {
  readonly key: ObjectKey;
  /** In words, such as `view public.mine`. */
  readonly description: string;
  /** As SQL names it, such as `public.mine` or `public.mine(integer)`; null where it is neither of these kinds. */
  readonly identity: string | null;
  readonly kind: 'view' | 'materialized view' | 'routine' | 'other';
  /** Of those affected too, the ones it depends on itself. */
  readonly dependsOn: readonly ObjectKey[];
}

/** What is only a part of something: rules, defaults and triggers of a relation, the types of its rows. */
const PARTS = `
  select 'pg_rewrite'::regclass::oid as classid, oid as objid, 'pg_class'::regclass::oid as class, ev_class as oid from pg_rewrite
  union all select 'pg_attrdef'::regclass, oid, 'pg_class'::regclass, adrelid from pg_attrdef
  union all select 'pg_trigger'::regclass, oid, 'pg_class'::regclass, tgrelid from pg_trigger
  union all select 'pg_type'::regclass, t.oid, 'pg_class'::regclass, coalesce(nullif(t.typrelid, 0), e.typrelid)
    from pg_type t left join pg_type e on e.oid = t.typelem where t.typrelid <> 0 or e.typrelid <> 0`;

/**
 * Everything that stands upon objects, however indirectly, and those objects themselves, each behind all that it depends
 * on. What a function reads is known of those whose body is parsed when they are made (BEGIN ATOMIC) only.
 */
export async function dependentsOf(
  sql: postgres.Sql,
  roots: readonly ObjectKey[],
): Promise<readonly Dependent[]> {
  const rows = await sql.unsafe<(Dependent & { dependsOn: ObjectKey[] })[]>(
    `with recursive parts as materialized (${PARTS}),
    edges as materialized (
      select distinct coalesce(a.class, d.classid) as class, coalesce(a.oid, d.objid) as oid,
        coalesce(b.class, d.refclassid) as on_class, coalesce(b.oid, d.refobjid) as on_oid
      from pg_depend d
      left join parts a using (classid, objid)
      left join parts b on (b.classid, b.objid) = (d.refclassid, d.refobjid)
      where d.deptype in ('n', 'a', 'i')),
    affected(class, oid) as (
      select split_part(key, '/', 1)::oid, split_part(key, '/', 2)::oid from unnest(string_to_array($1, ' ')) as key
      union
      select e.class, e.oid from edges e join affected a on (e.on_class, e.on_oid) = (a.class, a.oid))
    select concat(a.class, '/', a.oid) as key, pg_describe_object(a.class, a.oid, 0) as description,
      case when c.relkind in ('v', 'm') then format('%I.%I', c.relnamespace::regnamespace::name, c.relname)
        when p.oid is not null then p.oid::regprocedure::text end as identity,
      case when c.relkind = 'v' then 'view' when c.relkind = 'm' then 'materialized view'
        when p.prokind in ('f', 'p', 'w') then 'routine' else 'other' end as kind,
      array(select concat(e.on_class, '/', e.on_oid) from edges e join affected o on (o.class, o.oid) = (e.on_class, e.on_oid)
        where (e.class, e.oid) = (a.class, a.oid) and (e.on_class, e.on_oid) <> (a.class, a.oid)) as "dependsOn"
    from affected a
    left join pg_class c on a.class = 'pg_class'::regclass and c.oid = a.oid
    left join pg_proc p on a.class = 'pg_proc'::regclass and p.oid = a.oid`,
    [roots.join(' ')],
  );
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const sorted = new Set<Dependent>();
  const visit = (row: Dependent): void => {
    if (sorted.has(row)) return;
    for (const key of row.dependsOn) {
      const other = byKey.get(key);
      if (other) visit(other);
    }
    sorted.add(row);
  };
  for (const row of rows) visit(row);
  return [...sorted];
}
