import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onOwnConnection } from '../../src/db/own-connection.ts';
import { sessionSettings } from '../../src/db/session.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

describe('a connection for one piece of work', () => {
  it('does not begin it when it is stopped while the servers are asked which of them takes writes', async () => {
    const { username, password, host, pathname } = new URL(database.url);
    const url = `postgres://${username}:${password}@${host},${host}${pathname}`;
    const stopping = new AbortController();
    let worked = false;
    const done = onOwnConnection(url, sessionSettings('export'), stopping.signal, async () => {
      worked = true;
    });
    stopping.abort(new Error('stopped'));
    await expect(done).rejects.toThrow('stopped');
    expect(worked).toBe(false);
  });
});
