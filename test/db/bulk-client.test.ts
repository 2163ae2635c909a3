import pg from 'pg';
import type postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isAway } from '../../src/db/away.ts';
import { type BulkClient, openBulk, prepared, queryOf } from '../../src/db/bulk-client.ts';
import { openDatabase } from '../../src/db/client.ts';
import { HeldQuery } from '../../src/db/held-query.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { gate } from '../support/recording.ts';

describe('the client of commits', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());

  it('ends though a statement does not, which fails as one whose database went away', async () => {
    const bulk = openBulk(database.url, 2);
    await bulk.ask(prepared('select pg_advisory_lock(1)'), []);
    const waiting = bulk.ask(prepared('select pg_sleep(25)'), []).then(
      () => 'answered',
      (error: unknown) => (isAway(error) ? 'away' : error),
    );
    // The other connection sees it under way.
    await expect
      .poll(() => bulk.ask(prepared(`select from pg_stat_activity where query like 'select pg_sleep%'`), []))
      .toHaveLength(1);
    await bulk.end();
    expect(await waiting).toBe('away');
  });

  describe('of a statement that waits for something', () => {
    let bulk: BulkClient;
    let sql: postgres.Sql;
    beforeAll(() => {
      sql = openDatabase(database.url).sql;
    });
    afterAll(() => sql.end());
    beforeEach(async () => {
      bulk = openBulk(database.url, 1); // what is asked next needs the same connection
      await bulk.ask(prepared('create schema if not exists waiting'), []);
      await bulk.ask(prepared('drop table if exists waiting.rows'), []);
      await bulk.ask(prepared('create table waiting.rows (n bigint primary key)'), []);
    });
    afterEach(() => bulk.end());
    const insert = prepared<{ n: string }>(
      'insert into waiting.rows select unnest($1::bigint[]) returning n',
    );
    const stored = async () => (await sql`select n::int from waiting.rows order by n`).map(({ n }) => n);
    /** The process of the statement once PostgreSQL has read its values. */
    const waitingProcess = async () => {
      let found: { pid: number }[] = [];
      await expect
        .poll(async () => {
          found = await sql<{ pid: number }[]>`
            select a.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid
            where l.relation = 'waiting.rows'::regclass and a.query like 'insert into waiting.rows%'`;
          return found;
        })
        .toHaveLength(1);
      return found[0]?.pid ?? 0;
    };

    it('has its values read at once, and is carried out afterwards', async () => {
      const before = gate();
      const asked = bulk.ask(insert, ['{1,2}'], { after: before.opened });
      await waitingProcess();
      expect(await stored()).toEqual([]);
      before.open();
      expect(await asked).toEqual([{ n: '1' }, { n: '2' }]);
      expect(await stored()).toEqual([1, 2]);
    });

    it('is not carried out where that fails, and fails with the same; its connection goes on', async () => {
      const before = gate();
      const failing = before.opened.then(() => Promise.reject(new Error('the one before failed')));
      const asked = bulk.ask(insert, ['{1}'], { after: failing });
      const failed = expect(asked).rejects.toThrow('the one before failed');
      const pid = await waitingProcess();
      before.open();
      await failed;
      expect(await stored()).toEqual([]);
      expect(await bulk.ask(prepared('select pg_backend_pid() as pid'), [])).toEqual([{ pid }]);
    });

    it('is asked again where its connection is lost before it is carried out', async () => {
      const before = gate();
      const asked = bulk.ask(insert, ['{1,2}'], { after: before.opened });
      const pid = await waitingProcess();
      await sql`select pg_terminate_backend(${pid})`;
      await expect.poll(() => sql`select from pg_stat_activity where pid = ${pid}`).toEqual([]);
      before.open();
      expect(await asked).toEqual([{ n: '1' }, { n: '2' }]);
      expect(await stored()).toEqual([1, 2]);
    });

    it('is refused for its values only once that is over', async () => {
      const before = gate();
      let settled = false;
      const asked = bulk.ask(insert, ['{no number}'], { after: before.opened }).finally(() => {
        settled = true;
      });
      const failed = expect(asked).rejects.toThrow('invalid input syntax for type bigint');
      // What failed gave its connection back: another one answers.
      await bulk.ask(prepared('select'), []);
      expect(settled).toBe(false);
      before.open();
      await failed;
    });

    it('is not carried out where it was held for long: that counts as time of the statement', async () => {
      const client = new pg.Client(database.url);
      await client.connect();
      try {
        const query = new HeldQuery(queryOf(insert, ['{1}'], false), Promise.resolve(), 0);
        expect(await query.askOn(client)).toBe(null);
        expect(await stored()).toEqual([]);
        expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
      } finally {
        await client.end();
      }
    });

    it('is carried out once where what it does is refused', async () => {
      await bulk.ask(insert, ['{1}']);
      const asked = bulk.ask(insert, ['{2,1}'], { after: Promise.resolve() });
      await expect(asked).rejects.toThrow('duplicate key');
      expect(await stored()).toEqual([1]);
    });
  });
});
