import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Closers } from '../../chaos/closers.ts';
import { PostgresPair } from '../../chaos/servers/postgres-pair.ts';
import { connect } from '../../src/db/connect.ts';
import { isDatabaseUnavailable } from '../../src/db/connection-error.ts';
import { openQueuePool } from '../../src/db/queue-pool.ts';
import { withRowLock } from '../../src/db/row-lock.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';

/** The interface that these tests need of both drivers. */
interface Client {
  /** The port of the server that executed the write. */
  write(): Promise<number>;
  end(): Promise<void>;
}

const WRITE = 'insert into public.written values (inet_server_port()) returning port';

const drivers: readonly (readonly [string, (url: string) => Client])[] = [
  [
    'the client of the data path',
    (url) => {
      const sql = connect(url, 30_000, { max: 2, onnotice: () => {} });
      const write = async () => (await sql.unsafe<{ port: number }[]>(WRITE))[0]?.port ?? 0;
      return { write, end: () => sql.end({ timeout: 1 }) };
    },
  ],
  [
    "the queue's pool",
    (url) => {
      const pool = openQueuePool(url, 'bullmq', () => {});
      const write = async () => (await pool.query<{ port: number }>(WRITE)).rows[0]?.port ?? 0;
      return { write, end: () => pool.end() };
    },
  ],
];

/** Returns the URL with its servers in the other order. */
const swapServers = (url: string) => url.replace(/@([^,/]*),([^/]*)/, '@$2,$1');

describe.each(drivers)('%s and a pair of servers', (_name, open) => {
  const closers = new Closers();
  let pair: PostgresPair;
  let client: Client;
  let late: Client;
  let thaw = () => {};
  const portOf = (at: 0 | 1) => Number(new URL(pair.urls[at]).port);
  const countWritten = async (at: 0 | 1) => {
    const sql = postgres(pair.urls[at], { max: 1 });
    try {
      return (await sql`select 1 from public.written`).length;
    } finally {
      await sql.end({ timeout: 1 });
    }
  };
  beforeAll(async () => {
    pair = await PostgresPair.start(closers);
    const sql = postgres(pair.urls[0], { max: 1 });
    await sql`create table public.written (port int)`;
    await sql.end();
    client = open(pair.url);
    late = open(swapServers(pair.url));
  });
  afterAll(async () => {
    thaw();
    await Promise.all([client.end(), late.end()]);
    await closers.close();
  });

  it('writes to the primary, in any order of the names', async () => {
    expect(await client.write()).toBe(portOf(0));
    expect(await late.write()).toBe(portOf(0));
  });

  it('reports the reason while no server is writable, and uses the standby once it is promoted', async () => {
    thaw = await pair.primary.freeze();
    const fresh = open(`${pair.url}?application_name=fresh`);
    const error = await fresh.write().catch((failure: unknown) => failure);
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(String(error)).toContain(`127.0.0.1:${portOf(1)}: is a standby`);
    await pair.promote();
    expect(await fresh.write()).toBe(portOf(1));
    await fresh.end();
  });

  it('ignores a server that returns after another was promoted, though it is writable', async () => {
    thaw();
    const before = await countWritten(0);
    // Connections that did not detect the promotion are closed by the first one that did.
    const others = Array.from({ length: 4 }, () => client.write().catch(() => 0));
    await Promise.all(others);
    const second = open(pair.url);
    expect(await second.write()).toBe(portOf(1));
    const after = await countWritten(0);
    await expect.poll(() => client.write().catch(() => 0)).toBe(portOf(1));
    expect(after - before).toBeLessThanOrEqual(others.length);
    expect(await countWritten(0)).toBe(after);
    await pair.standby.crash();
    const error = await second.write().catch((failure: unknown) => failure);
    expect(isDatabaseUnavailable(error)).toBe(true);
    const again = await second.write().catch((failure: unknown) => failure);
    expect(String(again)).toContain(`127.0.0.1:${portOf(0)}: is outdated`);
    expect(await countWritten(0)).toBe(after);
    await pair.standby.start();
    expect(await second.write()).toBe(portOf(1));
    await second.end();
  });
});

describe('a pair of servers', () => {
  const closers = new Closers();
  afterAll(() => closers.close());

  it('is migrated, and locked, on its primary', async () => {
    const pair = await PostgresPair.start(closers);
    await migrate(swapServers(pair.url));
    const inner = () => withRowLock(pair.url, 'one', async () => 'two');
    expect(await withRowLock(swapServers(pair.url), 'one', async () => ['one', await inner()])).toEqual([
      'one',
      null,
    ]);
    // Every role may query the values that distinguish the servers.
    const [admin] = pair.urls;
    const sql = postgres(admin, { max: 1 });
    await sql`create role plain login password 'plain-password'`;
    await sql.end();
    const plain = swapServers(pair.url).replace(/\/\/[^@]*@/, '//plain:plain-password@');
    const theirs = connect(plain, 30_000, { max: 1 });
    expect(await theirs`select current_user as name, pg_is_in_recovery() as standby`).toEqual([
      { name: 'plain', standby: false },
    ]);
    await theirs.end();
    const refused = connect(plain.replace('plain-password', 'wrong'), 30_000, { max: 1 });
    await expect(refused`select 1`).rejects.toMatchObject({ code: '28P01' });
    await refused.end();
  });
});
