import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { missingObjects } from '../../src/db/own-objects.ts';
import { declaredObjects } from '../../src/reporting/views/declared-objects.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let sql: postgres.Sql;

beforeEach(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 2, onnotice: () => {} });
});
afterEach(async () => {
  await sql.end();
  await database.close();
});

describe('objects that are missing from a migrated database', () => {
  const missingNames = async () => (await missingObjects(sql, declaredObjects())).map(({ name }) => name);
  const all = () => sql<{ name: string; statement: string }[]>`
    select name, statement from recorder.own_objects order by name`;

  it('are named and restored: constraints, indexes, defaults and NOT NULL', async () => {
    const objects = await all();
    expect(objects.length).toBeGreaterThan(200);
    const kinds = ['constraint', 'index', 'default', 'not'];
    // Some objects of each kind, at any position of the list.
    const sampled = kinds.flatMap((kind) => {
      const some = objects.filter(({ name }) => name.startsWith(`${kind} `));
      return some.filter((_, place) => place % Math.ceil(some.length / 6) === 0);
    });
    const dropped: string[] = [];
    for (const { name, statement } of sampled) {
      const table = /(?:alter table|on) (?:only )?(recorder\.\w+)/i.exec(statement)?.[1];
      const column = /alter column "?(\w+)"?/.exec(statement)?.[1];
      const [kind, what] = name.split(' ');
      const drop = {
        constraint: `alter table ${table} drop constraint "${what}"`,
        index: `drop index ${what}`,
        default: `alter table ${table} alter column "${column}" drop default`,
        not: `alter table ${table} alter column "${column}" drop not null`,
      }[kind ?? ''];
      // Such as the NOT NULL of a primary key.
      if (
        drop &&
        (await sql.unsafe(drop).then(
          () => true,
          () => false,
        ))
      )
        dropped.push(name);
    }
    expect(new Set(dropped.map((name) => name.split(' ')[0]))).toEqual(new Set(kinds));
    expect(await missingNames()).toEqual(expect.arrayContaining(dropped));
    expect(await migrate(database.url)).toEqual([]);
    expect(await missingNames()).toEqual([]);
    expect(await all()).toEqual(objects);
  });

  it.each([
    'revoke usage on schema reporting from recorder_reader',
    'revoke select on reporting.freshness from recorder_reader',
    'revoke execute on all functions in schema reporting from public',
    'drop owned by recorder_reader',
  ])('are named and restored: %s', async (statement) => {
    await sql.unsafe(statement);
    expect((await missingNames()).length).toBeGreaterThan(0);
    expect(await migrate(database.url)).toEqual([]);
    expect(await missingNames()).toEqual([]);
    await sql.begin(async (reader) => {
      await reader.unsafe('set local role recorder_reader');
      await reader`select from reporting.freshness`;
    });
  });

  it('are reported if current rows prevent their restoration', async () => {
    await sql`alter table recorder.seals drop constraint seals_pkey cascade`;
    await sql`insert into recorder.own_objects values ('constraint seals_pkey on recorder.none', 'alter table recorder.none add primary key (x)')`;
    expect(await migrate(database.url)).toEqual([
      expect.stringContaining('constraint seals_pkey on recorder.none is missing and could not be restored'),
    ]);
    expect(await missingNames()).toEqual(['constraint seals_pkey on recorder.none']);
  });
});
