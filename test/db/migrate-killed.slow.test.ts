import postgres from 'postgres';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrateDatabase, schemaProblem } from '../../src/db/migrate.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { cutAfter } from '../support/cut-connection.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { before, declaredColumns, declareView, moved, schemaTexts } from './declared-views.ts';

let database: TestDatabase;
let sql: postgres.Sql;
beforeEach(async () => {
  database = await emptyDatabase();
  sql = postgres(database.url, { max: 2, onnotice: () => {} });
});
afterEach(async () => {
  await sql.end();
  await database.close();
});

const schema = () => schemaTexts(sql);

it('declared objects are all old or all new whichever statement the migration is killed after', async () => {
  const outdated = [...before, declareView('outdated', '1 as a')];
  await migrateDatabase(database.url, outdated);
  await sql`grant select on reporting.theirs to public`;
  const old = await schema();
  let cut = true;
  let statements = 0;
  for (; cut; statements++) {
    const proxy = await cutAfter(database.url, statements);
    const outcome = await migrateDatabase(proxy.url, moved).then(
      () => null,
      (error: unknown) => error,
    );
    cut = proxy.cut();
    await proxy.close();
    const now = await schema();
    const isNew = !now.includes('reporting.base.a integer');
    if (!isNew) expect(now).toEqual(old);
    if (outcome === null) expect(isNew).toBe(true);
    if (!cut) expect(outcome).toBeNull();
    const [theirs] = await sql`
      select b, has_table_privilege('public', 'reporting.theirs', 'select') as granted from reporting.theirs`;
    expect(theirs).toEqual({ b: 2, granted: true });
    if (isNew && cut) await migrateDatabase(database.url, outdated);
  }
  expect(statements).toBeGreaterThan(20);
  expect(await declaredColumns(sql)).toEqual(['base.b', 'theirs.b']);
  expect(await schemaProblem(sql)).toBeNull();
});

it('a killed migration of an empty database leaves it empty, or complete if its commit arrived', async () => {
  let [cuts, empty] = [0, 0];
  const complete: string[][] = [];
  for (let cut = true; cut; cuts++) {
    const proxy = await cutAfter(database.url, 10 + cuts * 120);
    const outcome = await migrate(proxy.url).then(
      () => null,
      (error: unknown) => error,
    );
    cut = proxy.cut();
    await proxy.close();
    if (!cut) expect(outcome).toBeNull();
    const schemas = await sql`select from pg_namespace where nspname in ('recorder', 'reporting', 'drizzle')`;
    if (schemas.length === 0) {
      expect(outcome).not.toBeNull();
      empty += 1;
    } else complete.push(await schema());
  }
  expect(empty).toBeGreaterThan(1);
  expect(await schemaProblem(sql)).toBeNull();
  expect((await schema()).length).toBeGreaterThan(100);
  for (const found of complete) expect(found).toEqual(await schema());
});
