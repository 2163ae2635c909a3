import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Declared } from '../../src/db/declared.ts';
import { type MigrateOptions, migrateDatabase } from '../../src/db/migrate.ts';
import { UsageError } from '../../src/lib/errors.ts';
import { declaredObjects } from '../../src/reporting/views/declared-objects.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { madeUpRelease } from '../support/made-up-release.ts';

let database: TestDatabase;
let sql: postgres.Sql;
let analyst: string;

/** Objects of an analyst that depend on the views, with the properties that an object may have. */
const USERS = `
  create view mine.names with (security_barrier) as select s.subnet_id as id, s.is_l1 as "is L1" from reporting.subnets s;
  comment on view mine.names is 'It''s mine';
  comment on column mine.names."is L1" is 'L1 or subnet';
  alter view mine.names alter column id set default 'none';
  create function mine.refuse() returns trigger language plpgsql as 'begin raise exception $$no$$; end';
  create trigger refused instead of insert on mine.names for each row execute function mine.refuse();
  create rule quiet as on delete to mine.names do instead nothing;
  create function mine.count() returns bigint language sql begin atomic; select count(*) from reporting.subnets; end;
  create view mine.counted as select mine.count() as subnets;
  create materialized view mine.stored as select subnet_id, network from reporting.subnets;
  create unique index stored_once on mine.stored (subnet_id);
  grant select on mine.names to analyst with grant option;
  grant select (id) on mine.names to public;
  revoke execute on function mine.count() from public;
  grant execute on function mine.count() to analyst;
  alter view mine.counted owner to analyst;
  grant select on reporting.subnets, reporting_internal.node_probes to analyst with grant option;
  revoke execute on function reporting.node_uptime(timestamptz, timestamptz) from public;
  grant execute on function reporting.node_uptime(timestamptz, timestamptz) to analyst, recorder_reader`;

beforeEach(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => {} });
  analyst = `analyst_${randomBytes(4).toString('hex')}`;
  await sql.unsafe(`create role ${analyst}; create schema mine;
    insert into recorder.subnets (network, subnet_id, is_l1, valid_from, run_id) values ('fuji', 'one', false, '2026-01-01', 1);
    ${USERS.replaceAll('analyst', analyst)}`);
});
afterEach(async () => {
  await sql.unsafe(`drop owned by ${analyst} cascade; drop role ${analyst}`);
  await sql.end();
  await database.close();
});

/** Text, owner, comments and rights of users' objects, and the rights of the objects that they read. */
async function usersObjects(): Promise<string[]> {
  const rows = await sql<{ object: string }[]>`
    select object from (
      select format('%s %s %s %s %s', c.oid::regclass, pg_get_userbyid(c.relowner), c.reloptions, pg_get_viewdef(c.oid),
        obj_description(c.oid, 'pg_class')) as object
      from pg_class c where c.relnamespace = 'mine'::regnamespace and c.relkind in ('v', 'm')
      union all
      select format('%s.%s %s %s', attrelid::regclass, attname, col_description(attrelid, attnum), attacl)
      from pg_attribute where attrelid in (select oid from pg_class where relnamespace = 'mine'::regnamespace)
      union all
      select pg_get_triggerdef(oid) from pg_trigger where tgrelid = to_regclass('mine.names')
      union all
      select pg_get_ruledef(oid) from pg_rewrite where ev_class = to_regclass('mine.names')
      union all
      select format('%s %s %s', c.oid::regclass, g.grantee::regrole, g.privilege_type) from pg_class c, aclexplode(c.relacl) g
      where c.relnamespace::regnamespace::text in ('mine', 'reporting', 'reporting_lists', 'reporting_internal')
      union all
      select format('%s %s %s', p.oid::regprocedure, g.grantee::regrole, g.privilege_type)
      from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
      where p.pronamespace::regnamespace::text in ('mine', 'reporting', 'reporting_lists', 'reporting_internal')) o order by 1`;
  return rows.map(({ object }) => object);
}

/** Returns the declared objects with some of them changed; null: removed. */
function changeObjects(changes: Readonly<Record<string, (object: Declared) => Declared | null>>): Declared[] {
  return declaredObjects().flatMap((object) => {
    const change = changes[object.name];
    return change ? (change(object) ?? []) : object;
  });
}
const where = (object: Declared) => ({ ...object, body: `select q.* from (${object.body}) as q where true` });
const reverseColumns = (object: Declared): Declared => {
  const names = object.columns.map(({ name }) => `"${name}"`);
  const body = `select ${names.toReversed()} from (${object.body}) as q(${names})`;
  return { ...object, columns: object.columns.toReversed(), body };
};

it.each<readonly [string, () => Declared[]]>([
  ['is replaced', () => changeObjects({ subnets: where, subnets_as_of: where, node_uptime: where })],
  [
    'is dropped and created again',
    () => changeObjects({ node_probes: reverseColumns, node_uptime: reverseColumns }),
  ],
])('keeps objects of users if a relation that they read %s', async (_, objects) => {
  const before = await usersObjects();
  await migrateDatabase(database.url, objects());
  expect(await usersObjects()).toEqual(before);
  expect(await migrateDatabase(database.url, declaredObjects())).toEqual([]);
  expect(await usersObjects()).toEqual(before);
});

/** Returns the problems of a refused migration. */
const refusal = (objects: readonly Declared[], options?: MigrateOptions) =>
  migrateDatabase(database.url, objects, options).then(
    () => [],
    (error: unknown) => (error instanceof UsageError ? error.problems : [String(error)]),
  );
/** Returns the statements that a person copies from the refusal. */
const statements = (problems: readonly string[], when: string) =>
  problems.flatMap((line) => (line.startsWith(when) ? line.slice(when.length) : [])).join('\n');

it.each<readonly [string, () => Declared[]]>([
  ['has other columns', () => changeObjects({ subnets: reverseColumns, subnets_as_of: reverseColumns })],
  ['is not declared any more', () => changeObjects({ subnets: () => null, subnets_as_of: () => null })],
])(
  'refuses the migration if a relation that users read %s, and prints the statements to run',
  async (kind, objects) => {
    const before = await usersObjects();
    const problems = await refusal(objects());
    expect(problems[0]).toMatch(
      /view mine\.names, .*materialized view mine\.stored|materialized view mine\.stored, .*view mine\.names/,
    );
    expect(await usersObjects()).toEqual(before);
    await sql.unsafe(statements(problems, 'before:'));
    expect(await migrateDatabase(database.url, objects())).toEqual([]);
    if (kind.startsWith('is not')) await migrateDatabase(database.url, declaredObjects());
    await sql.unsafe(statements(problems, 'after:'));
    const lost = kind.startsWith('is not') ? `reporting.subnets ${analyst}` : 'nothing';
    expect(await usersObjects()).toEqual(before.filter((one) => !one.startsWith(lost)));
    expect([...(await sql`select subnet_id from mine.stored`)]).toEqual([{ subnet_id: 'one' }]);
  },
);

it("reports a table with a column of a view's type, to be changed by hand", async () => {
  await sql`create table mine.probes (probe reporting_internal.node_probes)`;
  const problems = await refusal(changeObjects({ node_probes: reverseColumns }));
  expect(problems[1]).toBe('first change or drop table mine.probes');
});

it('drops a column of a table if no object of a user reads it', async () => {
  await using release = await madeUpRelease('alter table recorder.targets drop column failures');
  await sql.unsafe(`alter table recorder.targets add column failures integer;
    create view mine.failing as select target_key, failures from recorder.targets;
    create view mine.upon as select count(*) as failing from mine.failing;
    create view mine.keys as select source, target_key from recorder.targets`);
  const problems = await refusal(declaredObjects(), release);
  expect(problems[0]).toMatch(/view mine\.failing, view mine\.upon$/);
  await sql.unsafe(statements(problems, 'before:'));
  expect(await migrateDatabase(database.url, declaredObjects(), release)).toEqual([]);
  expect([...(await sql`select * from mine.keys`)]).toEqual([]);
});

it('recreates its views and functions that read a column if the type of the column changes', async () => {
  const type = (name: string) =>
    `alter table "recorder"."health_probes" alter column "${name}" set data type text using "${name}"::text`;
  await using release = await madeUpRelease(type('observer'), type('node'));
  const before = await usersObjects();
  expect(await migrateDatabase(database.url, declaredObjects(), release)).toEqual([]);
  expect(await usersObjects()).toEqual(before);
});
