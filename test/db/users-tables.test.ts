import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { afterEach, expect, it } from 'vitest';
import { Reporting } from '../../src/db/apply-declared.ts';
import { changeTable, migrateDatabase } from '../../src/db/migrate.ts';
import { inOneTransaction } from '../../src/db/transaction.ts';
import { declaredObjects } from '../../src/views/declared.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { madeUpRelease } from '../support/made-up-release.ts';

/** A column that the release drops. */
const COLUMN = 'alter table recorder.targets add column failures integer';
const DROPPED = 'alter table recorder.targets drop column failures';

let database: TestDatabase;
let sql: postgres.Sql;
let analyst: string;
async function use(make: () => Promise<TestDatabase>): Promise<void> {
  database = await make();
  sql = postgres(database.url, { max: 1, onnotice: () => {} });
  analyst = `analyst_${randomBytes(4).toString('hex')}`;
  await sql.unsafe(`create role ${analyst}; create schema mine`);
}
afterEach(async () => {
  await sql.unsafe(`drop owned by ${analyst} cascade; drop role ${analyst}`);
  await sql.end();
  await database.close();
});

const displaced = () => sql<{ object: string; script: string; reason: string }[]>`
  select object, script, reason from reporting.displaced_objects order by object`;

/** What users have, with its text and rights, as text. */
const ofUsers = async () => [
  ...(await sql`
    select c.relname as name, pg_get_viewdef(c.oid) as text, c.relacl::text as rights, obj_description(c.oid, 'pg_class') as comment
    from pg_class c where c.relnamespace = 'mine'::regnamespace and c.relkind = 'v' order by 1`),
];

it('views that stand directly on a table stay when other columns go; what reads those is named, with its text', async () => {
  await use(testDatabase);
  await using release = await madeUpRelease(DROPPED);
  await sql.unsafe(`${COLUMN};
    create view mine.failing as select target_key, failures from recorder.targets where failures > 0;
    create view mine.upon as select count(*) as failing from mine.failing;
    create view mine.keys as select source, target_key from recorder.targets;
    create function mine.count() returns bigint language sql begin atomic; select count(*) from recorder.targets; end;
    comment on view mine.keys is 'Keys';
    grant select on mine.keys, mine.failing to ${analyst}`);
  const theirs = await ofUsers();
  const told = await migrateDatabase(database.url, declaredObjects(), release);
  expect(await ofUsers()).toEqual(theirs.filter(({ name }) => name === 'keys'));
  expect([...(await sql`select mine.count()::int as count`)]).toEqual([{ count: 0 }]);
  const rows = await displaced();
  expect(rows.map(({ object, reason }) => [object, reason])).toEqual([
    ['mine.failing', 'column "failures" does not exist'],
    ['mine.upon', 'relation "mine.failing" does not exist'],
  ]);
  expect(rows[0]?.script).toContain(`grant SELECT on mine.failing to ${analyst}`);
  for (const name of ['mine.failing', 'mine.upon'])
    expect(told.filter((line) => line.startsWith(`${name} `))).toEqual([
      expect.stringContaining('reporting.displaced_objects'),
    ]);
});

it('a materialised view on a column that goes stops the migration, which says what to run', async () => {
  await use(testDatabase);
  await using release = await madeUpRelease(DROPPED);
  await sql.unsafe(COLUMN);
  await sql`create materialized view mine.stored as select target_key, failures from recorder.targets`;
  const migrating = () => migrateDatabase(database.url, declaredObjects(), release);
  await expect(migrating()).rejects.toThrow(/^before: {2}drop materialized view mine\.stored;$/m);
  expect([...(await sql`select failures from mine.stored`)]).toEqual([]);
  await sql`drop materialized view mine.stored`;
  expect(await migrating()).toEqual([]);
  await expect(sql`select failures from recorder.targets`).rejects.toThrow(/does not exist/);
});

it('views that stand directly on a table are made again when a column that they read has another type', async () => {
  await use(testDatabase);
  await sql.unsafe(`
    insert into recorder.subnets (network, subnet_id, is_l1, valid_from, run_id) values ('fuji', 'one', false, '2026-01-01', 1);
    create view mine.names as select s.subnet_id as id, s.is_l1 from recorder.subnets s;
    create view mine.both as select n.id, r.is_l1 from mine.names n join reporting.subnets r on r.subnet_id = n.id;
    comment on view mine.names is 'Names';
    grant select on mine.names, mine.both to ${analyst}`);
  const told = await inOneTransaction(database.url, undefined, async (transaction) => {
    const reporting = await Reporting.open(transaction, declaredObjects());
    await changeTable(
      transaction,
      reporting,
      'ALTER TABLE "recorder"."subnets" ALTER COLUMN "is_l1" SET DATA TYPE text',
    );
    await changeTable(
      transaction,
      reporting,
      'ALTER TABLE "recorder"."subnets" ALTER COLUMN "is_l1" SET DATA TYPE boolean USING "is_l1"::boolean',
    );
    return reporting.apply();
  });
  expect(told).toEqual([]);
  expect([...(await displaced())]).toEqual([]);
  expect([...(await sql`select id, is_l1 from mine.both`)]).toEqual([{ id: 'one', is_l1: false }]);
  expect(await ofUsers()).toMatchObject([
    { name: 'both', rights: expect.stringContaining(`${analyst}=r/`) },
    { name: 'names', comment: 'Names', rights: expect.stringContaining(`${analyst}=r/`) },
  ]);
});
