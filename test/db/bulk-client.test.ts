import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
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

  it('says that the database went away where a server ends while much is being sent to it', async () => {
    const proxy = await TcpProxy.open(Number(new URL(database.url).port));
    const bulk = openBulk(proxy.before(database.url), 1);
    const length = prepared<{ length: number }>('select length($1::text)');
    expect(await bulk.ask(length, ['one'])).toEqual([{ length: 3 }]);
    const failed = bulk.ask(length, ['x'.repeat(50_000_000)]).catch((failure: unknown) => failure);
    await turn();
    // As of a process that is killed: its end comes first, and then what it says to that which still arrives.
    proxy.end();
    await turn();
    await turn();
    proxy.reset();
    const error = await failed;
    expect(isAway(error), String(error)).toBe(true);
    await bulk.end();
    await proxy.close();
  });
});
