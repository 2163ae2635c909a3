import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAway } from '../../src/db/away.ts';
import { openBulk, prepared } from '../../src/db/bulk-client.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

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
});
