import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Declared, DeclaredColumn } from '../../src/db/declared.ts';
import { freePort } from '../../src/db/free-port.ts';
import { migrateDatabase, schemaProblem } from '../../src/db/migrate.ts';
import { UsageError } from '../../src/errors.ts';
import { declaredObjects } from '../../src/views/declared.ts';
import { migrate } from '../../src/views/migrate.ts';
import { startCommand } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const declared = declaredObjects();

let database: TestDatabase;
let sql: postgres.Sql;
let analyst: string;

beforeEach(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 2, onnotice: () => {} });
  analyst = `analyst_${randomBytes(4).toString('hex')}`;
  await sql.unsafe(`
    create role ${analyst};
    create schema mine;
    insert into recorder.subnets (network, subnet_id, is_l1, valid_from, run_id) values ('fuji', 'one', false, '2026-01-01', 1)`);
  await sql.unsafe(USERS.replaceAll('analyst', analyst));
});
afterEach(async () => {
  await sql.unsafe(`drop owned by ${analyst} cascade; drop role ${analyst}`);
  await sql.end();
  await database.close();
});

/** What an analyst builds upon the views, with every property that an object may have. */
const USERS = `
  create view mine.names with (security_barrier) as select s.subnet_id as id, s.is_l1 as "is L1" from reporting.subnets s;
  comment on view mine.names is 'It''s mine';
  comment on column mine.names."is L1" is 'Whether';
  alter view mine.names alter column id set default 'none';
  create function mine.refuse() returns trigger language plpgsql as 'begin raise exception $$no$$; end';
  create trigger refused instead of insert on mine.names for each row execute function mine.refuse();
  create rule quiet as on delete to mine.names do instead nothing;
  create view mine.upon as select n.id, u.uptime from mine.names n, reporting.node_uptime(now() - interval '1 day', now()) u;
  create function mine.rows_of(one text) returns setof reporting.subnets stable language sql
    as 'select * from reporting.subnets where subnet_id = one';
  create function mine.count() returns bigint language sql begin atomic; select count(*) from reporting.subnets; end;
  comment on function mine.count() is 'How many';
  create view mine.counted as select mine.count() as subnets;
  create view mine.probes as select observer, probes from reporting.node_probes;
  grant select on mine.names to analyst with grant option;
  grant select (id) on mine.upon to public;
  revoke execute on function mine.count() from public;
  grant execute on function mine.count() to analyst;
  alter view mine.counted owner to analyst;
  alter function mine.rows_of(text) owner to analyst;
  grant select on reporting.subnets to analyst with grant option;
  grant select (subnet_id) on reporting.subnets_history to analyst;
  grant select on reporting.node_probes to analyst;
  revoke execute on function reporting.node_uptime(timestamptz, timestamptz) from public;
  grant execute on function reporting.node_uptime(timestamptz, timestamptz) to analyst, recorder_reader;
  create function reporting.node_uptime(text) returns text language sql as 'select $1';`;

const MATERIALISED = `
  create materialized view mine.stored as select subnet_id, network from reporting.subnets;
  create unique index stored_once on mine.stored (subnet_id);
  create view mine.stored_upon as select subnet_id from mine.stored;
  grant select on mine.stored_upon to public;`;

/** Everything that users own or were given, as text. */
async function ofUsers(): Promise<string[]> {
  const rows = await sql<{ object: string }[]>`
    select format('%s %s %s %s %s %s', c.oid::regclass, c.relkind, pg_get_userbyid(c.relowner), c.reloptions, pg_get_viewdef(c.oid),
      obj_description(c.oid, 'pg_class')) as object
    from pg_class c where c.relnamespace = 'mine'::regnamespace and c.relkind in ('v', 'm')
    union all
    select format('%s.%s %s', attrelid::regclass, attname, col_description(attrelid, attnum))
    from pg_attribute where attrelid in (select oid from pg_class where relnamespace = 'mine'::regnamespace and relkind = 'v')
    union all
    select format('%s %s', d.adrelid::regclass, pg_get_expr(d.adbin, d.adrelid)) from pg_attrdef d
    join pg_class c on c.oid = d.adrelid where c.relnamespace = 'mine'::regnamespace
    union all
    select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all
    select pg_get_ruledef(r.oid) from pg_rewrite r join pg_class c on c.oid = r.ev_class where c.relnamespace = 'mine'::regnamespace
    union all
    select pg_get_indexdef(indexrelid) from pg_index join pg_class c on c.oid = indrelid where c.relnamespace = 'mine'::regnamespace
    union all
    select format('%s %s %s', pg_get_functiondef(p.oid), pg_get_userbyid(p.proowner), obj_description(p.oid, 'pg_proc'))
    from pg_proc p where p.pronamespace = 'mine'::regnamespace or p.oid = to_regprocedure('reporting.node_uptime(text)')
    union all
    select format('%s %s %s %s', c.oid::regclass, g.grantee::regrole, g.privilege_type, g.is_grantable) from pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) g
    where c.relnamespace::regnamespace::text in ('mine', 'reporting') and c.relkind in ('v', 'm')
    union all
    select format('%s.%s %s %s', attrelid::regclass, attname, g.grantee::regrole, g.privilege_type) from pg_attribute, aclexplode(attacl) g
    where attrelid in (select oid from pg_class where relnamespace::regnamespace::text in ('mine', 'reporting'))
    union all
    select format('%s %s %s', p.oid::regprocedure, g.grantee::regrole, g.privilege_type) from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
    where p.pronamespace::regnamespace::text in ('mine', 'reporting')
    order by 1`;
  return rows.map(({ object }) => object);
}

const column = (name: string, type: string): DeclaredColumn => ({ name, type, comment: name });

/** The declared objects, some of them changed; null: not declared any more. */
function changed(changes: Readonly<Record<string, (object: Declared) => Declared | null>>): Declared[] {
  return declared.flatMap((object) => {
    const change = changes[object.name];
    return change ? (change(object) ?? []) : object;
  });
}

/** Another query over what subnets selects now, in the view and in the function that returns its rows. */
const subnets = (select: string, columns = (all: readonly DeclaredColumn[]) => [...all]) => {
  const change = (object: Declared): Declared => ({
    ...object,
    columns: columns(object.columns),
    body: `select ${select} from (${object.body}) as q`,
  });
  return changed({ subnets: change, subnets_as_of: change });
};
const names = (declared.find(({ name }) => name === 'subnets')?.columns ?? []).map(({ name }) => name);
const kept = names.filter((name) => name !== 'extra');
const body = (name: string, make: (body: string) => string) =>
  changed({ [name]: (object) => ({ ...object, body: make(object.body) }) });
const gone = (...all: string[]) => changed(Object.fromEntries(all.map((name) => [name, () => null])));

/** Changes that leave what stands where it is. */
const REPLACED: readonly (readonly [string, readonly Declared[]])[] = [
  [
    'a column comes behind the others',
    subnets('q.*, 1 as added', (all) => [...all, column('added', 'integer')]),
  ],
  ['a query selects other rows', body('subnets', (text) => `${text} and network <> 'none'`)],
  [
    'internals have other names',
    body('subnets', (text) => `with renamed as (${text}) select * from renamed`),
  ],
  [
    'comments say something else',
    changed({
      subnets: (object) => ({
        ...object,
        comment: 'Something else.',
        columns: object.columns.map((one) => ({ ...one, comment: `${one.comment} Really.` })),
      }),
    }),
  ],
  ['an object is not declared any more', gone('subnets', 'subnets_as_of', 'node_uptime')],
];

const MORE = changed({
  node_uptime: (object) => ({
    ...object,
    columns: [...object.columns, column('added', 'integer')],
    body: `select q.*, 1 from (${object.body}) as q`,
  }),
});

/** Changes for which something has to be dropped. */
const MADE_ANEW: readonly (readonly [string, readonly Declared[]])[] = [
  [
    'columns of a view change places',
    changed({
      node_probes: (object) => ({
        ...object,
        columns: object.columns.toReversed(),
        body: `select ${object.columns
          .map(({ name }) => name)
          .toReversed()
          .join(', ')} from (${object.body}) as q`,
      }),
    }),
  ],
  [
    'a column has another type',
    subnets(names.map((name) => (name === 'subnet_id' ? 'subnet_id::varchar' : name)).join(', ')),
  ],
  [
    'a column that no user reads is gone',
    subnets(kept.join(', '), (all) => all.filter(({ name }) => name !== 'extra')),
  ],
  ['a function returns more', MORE],
  [
    'a function has parameters of other names',
    changed({
      node_uptime: (object) =>
        object.kind === 'function'
          ? {
              ...object,
              parameters: object.parameters.map((one) =>
                one.name === 'from' ? { ...one, name: 'since' } : one,
              ),
              body: object.body.replaceAll('"from"', 'since'),
            }
          : null,
    }),
  ],
  [
    'a view that others are declared upon has other columns',
    changed({
      node_probes: (object) => ({
        ...object,
        columns: [column('added', 'integer'), ...object.columns],
        body: `select 1 as added, q.* from (${object.body}) as q`,
      }),
    }),
  ],
];

/** Without the list of a function's columns, which PostgreSQL writes in the text of a view. */
const unlisted = (all: readonly string[]) => all.map((one) => one.replaceAll(/(\) \w+)\([\w, ]+\)/g, '$1'));

const rowsRead = async () => {
  const [row] = await sql`
    select (select count(*)::int from mine.names) as names, (select subnets::int from mine.counted) as counted,
      (select count(*)::int from mine.rows_of('one')) as rows, (select count(*)::int from mine.upon) as upon`;
  return row;
};
const READ = { names: 1, counted: 1, rows: 1, upon: 0 };

/** Starts `up`, which brings the database to this version, until it is ready, and ends it. @returns what it said */
async function startedUp(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'up-'));
  const port = await freePort();
  const up = startCommand(
    ['up', '--roles', 'server', '--config', resolve('examples/sandbox.yaml')],
    { DATABASE_URL: database.url, RECORDER_PORT: String(port) },
    dir,
  );
  const ready = async () => (await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null))?.status;
  await expect.poll(ready, { timeout: 30_000 }).toBe(200);
  up.process.kill('SIGTERM');
  const { code, stdout, stderr } = await up.ended;
  expect(code, stderr).toBe(0);
  await rm(dir, { recursive: true });
  return `${stdout}${stderr}`;
}

/** Of each way one change is taken back by `up`; the others by the same call without a process. */
const TAKEN_BACK_BY_UP = [REPLACED[0]?.[1], MORE];

describe("users' views, functions and rights stay as they are", () => {
  it.each([...REPLACED, ...MADE_ANEW])('when %s, and when it is taken back', async (_, objects) => {
    const theirs = await ofUsers();
    const rights = (all: string[]) =>
      all.filter((one) => !/^reporting\.(?!node_)/.test(one) || one.includes(analyst));
    await migrateDatabase(database.url, objects);
    expect(unlisted(rights(await ofUsers()))).toEqual(unlisted(rights(theirs)));
    expect(await rowsRead()).toEqual(READ);
    const told = TAKEN_BACK_BY_UP.includes(objects)
      ? await startedUp()
      : (await migrate(database.url)).join('\n');
    expect(await schemaProblem(sql)).toBeNull();
    if (objects === MORE) {
      // PostgreSQL wrote the column into the view's text, and it is gone again.
      expect(told).toMatch(/mine\.upon .* 11 columns available but 12 columns specified/);
      return;
    }
    expect(told).not.toContain('mine.');
    expect(await ofUsers()).toEqual(theirs);
    expect(await rowsRead()).toEqual(READ);
  });

  it('when objects were dropped or altered by hand', async () => {
    const theirs = await ofUsers();
    await sql`drop view reporting.x_utxos_history cascade`;
    await sql`drop function reporting.node_latency`;
    await sql`create or replace view reporting.displaced_objects as select 'x' as object, 'x' as kind, 'x' as owner, 'x' as script,
      'x' as reason, now() as displaced_at`;
    await migrate(database.url);
    expect(await ofUsers()).toEqual(theirs);
    expect([...(await sql`table reporting.displaced_objects`)]).toEqual([]);
  });
});

describe('what cannot be made again as it was', () => {
  const EARLIER = 'create view mine.earlier as select subnet_id, is_l1 from reporting.subnets_as_of(now())';
  const displaced = () => sql<
    { object: string; kind: string; owner: string; script: string; reason: string }[]
  >`
    select object, kind, owner, script, reason from reporting.displaced_objects order by object`;

  it('is named, with the text that made it; the rest comes back', async () => {
    await sql.unsafe(EARLIER);
    const told = await migrateDatabase(
      database.url,
      changed({
        node_probes: (object) => ({
          ...object,
          columns: object.columns.filter(({ name }) => name !== 'entries'),
          body: `select ${object.columns.map(({ name }) => name).filter((name) => name !== 'entries')} from (${object.body}) as q`,
        }),
        node_latency: () => null,
        ...Object.fromEntries(
          ['subnets', 'subnets_as_of'].map((name) => [
            name,
            (object: Declared) => ({
              ...object,
              columns: object.columns.filter((one) => one.name !== 'is_l1'),
              body: `select ${names.filter((one) => one !== 'is_l1')} from (${object.body}) as q`,
            }),
          ]),
        ),
      }),
    );
    const rows = await displaced();
    expect(rows.map(({ object, kind, reason }) => [object, kind, reason])).toEqual([
      ['mine.earlier', 'view', 'table "subnets_as_of" has 18 columns available but 19 columns specified'],
      ['mine.names', 'view', 'column "is_l1" does not exist'],
      ['mine.upon', 'view', 'relation "mine.names" does not exist'],
    ]);
    expect(told).toHaveLength(3);
    expect(told.join('\n')).toMatch(
      /mine\.names .*column "is_l1" does not exist.*reporting\.displaced_objects/,
    );
    expect([...(await sql`select probes from mine.probes`)]).toEqual([]);
    expect([...(await sql`select subnets::int from mine.counted`)]).toEqual([{ subnets: 1 }]);
    // Its text makes it again, as it was.
    await migrate(database.url);
    const theirs = [];
    for (const name of ['mine.names', 'mine.upon', 'mine.earlier'])
      theirs.push(rows.find(({ object }) => object === name)?.script ?? '');
    await sql.unsafe(theirs.join(''));
    expect(await rowsRead()).toEqual(READ);
    const [made] = await sql`
      select obj_description('mine.names'::regclass) as comment, has_table_privilege(${analyst}, 'mine.names', 'select with grant option') as granted,
        (select reloptions from pg_class where oid = 'mine.names'::regclass) as options,
        (select count(*)::int from pg_trigger where tgrelid = 'mine.names'::regclass) as triggers`;
    expect(made).toEqual({
      comment: "It's mine",
      granted: true,
      options: ['security_barrier=true'],
      triggers: 1,
    });
  });

  it('is a view that would read other columns under the old names', async () => {
    await sql.unsafe(EARLIER);
    await sql`create view mine.placed as select p.a, p.b from reporting.node_observers p(a, b, c, d, e)`;
    const reverse = (object: Declared): Declared => ({
      ...object,
      columns: object.columns.toReversed(),
      body: `select ${object.columns.map(({ name }) => name).toReversed()} from (${object.body}) as q`,
    });
    await migrateDatabase(
      database.url,
      changed({ node_observers: reverse, subnets: reverse, subnets_as_of: reverse, node_uptime: reverse }),
    );
    expect((await displaced()).map(({ object, reason }) => [object, reason])).toEqual([
      ['mine.earlier', 'it would read other columns than before'],
      ['mine.placed', 'it would read other columns than before'],
      [
        'mine.upon',
        'the columns of reporting.node_uptime(timestamp with time zone,timestamp with time zone) have changed places',
      ],
    ]);
    expect([...(await sql`select id from mine.names`)]).toEqual([{ id: 'one' }]);
  });

  it('is a materialised view, which stops the migration: it says what to run, and nothing is changed', async () => {
    await sql.unsafe(MATERIALISED);
    const theirs = await ofUsers();
    const narrowed = MADE_ANEW.find(([name]) => name === 'a column that no user reads is gone')?.[1] ?? [];
    const refusal = await migrateDatabase(database.url, narrowed).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(UsageError);
    expect(await ofUsers()).toEqual(theirs);
    const problems = refusal instanceof UsageError ? refusal.problems : [];
    const commands = (when: string) =>
      problems
        .filter((line) => line.startsWith(when))
        .map((line) => line.slice(when.length + 1))
        .join('\n');
    await sql.unsafe(commands('before'));
    await migrateDatabase(database.url, narrowed);
    await sql.unsafe(commands('after'));
    expect(unlisted(await ofUsers())).toEqual(unlisted(theirs));
    expect([...(await sql`select subnet_id from mine.stored_upon`)]).toEqual([{ subnet_id: 'one' }]);
  });

  it.each(REPLACED)('is nothing, a materialised view neither, when %s', async (_, objects) => {
    await sql.unsafe(MATERIALISED);
    await migrateDatabase(database.url, objects);
    await sql`refresh materialized view mine.stored`;
    expect([...(await sql`select subnet_id from mine.stored_upon`)]).toEqual([{ subnet_id: 'one' }]);
    await sql`drop materialized view mine.stored cascade`;
  });

  it("is a user's table that has a column of a view's type: the migration stops", async () => {
    await sql`create table mine.table (probe reporting.node_probes)`;
    const narrowed = MADE_ANEW.find(([name]) => name.startsWith('a view that others'))?.[1] ?? [];
    await expect(migrateDatabase(database.url, narrowed)).rejects.toThrow(
      /table mine\."table" depends on what this version changes/,
    );
    expect([...(await sql`select * from mine.table`)]).toEqual([]);
  });
});

it('a record that was restored without rights, or lost one, is read by recorder_reader again', async () => {
  const readable = async () => {
    const rows = await sql<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'reporting'::regnamespace and relkind = 'v'
      and has_table_privilege('recorder_reader', oid, 'select') order by 1`;
    return rows.map(({ name }) => name);
  };
  const before = await readable();
  expect(before).toEqual(expect.arrayContaining(['node_states', 'subnets']));
  for (const statement of [
    'revoke select on reporting.node_states from recorder_reader',
    // As pg_restore --no-acl leaves it.
    'revoke all on all tables in schema reporting from recorder_reader; revoke usage on schema reporting from recorder_reader',
  ]) {
    await sql.unsafe(statement);
    await migrate(database.url);
    expect(await readable()).toEqual(before);
  }
});
