import { afterAll, beforeAll, describe, expect } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { isDatabaseUnavailable } from '../../src/db/connection-error.ts';
import { onOwnConnection } from '../../src/db/own-connection.ts';
import { sessionSettings } from '../../src/db/session.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, database } = withDatabase();
let proxy: TcpProxy;
const never = new AbortController().signal;
beforeAll(async () => {
  proxy = await TcpProxy.open(Number(new URL(database.url).port));
});
afterAll(async () => {
  await proxy.close();
});

describe('a dedicated connection', () => {
  it('starts no work if it is stopped while the primary is being found', async () => {
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

  it('ends with its work, though the server is stalled', async () => {
    const done = onOwnConnection(
      proxy.before(database.url),
      sessionSettings('export'),
      never,
      async (client) => {
        const { rows } = await client.query<{ n: number }>('select 1 as n');
        proxy.stall();
        return rows;
      },
    );
    expect(await done).toEqual([{ n: 1 }]);
  });

  it('reports an unavailable database if it does not respond', async () => {
    proxy.weather = { kind: 'black-hole' };
    const done = onOwnConnection(
      proxy.before(database.url),
      sessionSettings('export'),
      never,
      async () => {},
    );
    const error = await done.catch((failure: unknown) => failure);
    proxy.weather = { kind: 'fair' };
    expect(isDatabaseUnavailable(error), String(error)).toBe(true);
  });
});
