import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate } from '../../src/views/migrate.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';

/** The migrations before the one that gave series of metric points their numbers. */
const BEFORE = 34;
const folder = fileURLToPath(new URL('../../drizzle', import.meta.url));

let database: TestDatabase;
let sql: postgres.Sql;

beforeEach(async () => {
  database = await emptyDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await sql.unsafe(`create schema drizzle;
    create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`);
  for (const { sql: statements, hash, folderMillis } of readMigrationFiles({
    migrationsFolder: folder,
  }).slice(0, BEFORE)) {
    for (const statement of statements) await sql.unsafe(statement);
    await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`;
  }
});
afterEach(async () => {
  await sql.end();
  await database.close();
});

it('every metric point that somebody recorded until the migration had the table is there once, also of series that were new', async () => {
  const written: string[] = [];
  const write = (metric: string) => sql`
    insert into recorder.metric_points (chain_id, metric, time_interval, bucket_start, value, recorded_at, run_id)
    values ('1', ${metric}, 'day', '2026-01-01Z', ${written.length}, now(), 1)`;
  let goesOn = true;
  const writing = (async () => {
    while (goesOn) {
      const metric = `written ${written.length}`;
      // The version before does not know the new table.
      goesOn = await write(metric).then(
        () => true,
        () => false,
      );
      if (goesOn) written.push(metric);
    }
  })();
  await migrate(database.url);
  await writing;
  expect(written.length).toBeGreaterThan(10);
  const other = postgres(database.url, { max: 1 });
  const found = await other<{ metric: string }[]>`select metric from reporting.metric_points order by value`;
  await other.end();
  expect(found.map(({ metric }) => metric)).toEqual(written);
});

it('what a user built directly on the old table is named, and nothing is changed', async () => {
  await sql`create view public.mine as select chain_id from recorder.metric_points`;
  await expect(migrate(database.url)).rejects.toThrow(/something of yours reads .*public\.mine|mine/);
  expect(await sql`select * from public.mine`).toEqual([]);
  const [there] = await sql`select to_regclass('recorder.metric_points_series') as series`;
  expect(there?.series).toBeNull();
});
