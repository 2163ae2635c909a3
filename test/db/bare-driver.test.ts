import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { connect } from '../../src/db/connect.ts';
import { withDatabase } from '../support/fixture.ts';
import { waitUntilRunning } from '../support/lost-connections.ts';

const { it, database, sql: watcher } = withDatabase();
let proxy: TcpProxy;
beforeAll(async () => {
  proxy = await TcpProxy.open(Number(new URL(database.url).port));
});
afterAll(() => proxy.close());

const OPTIONS = { max: 1, onnotice: () => {}, connect_timeout: 5, backoff: () => 0.01 };
type Open = (url: string) => postgres.Sql;
const bare: Open = (url) => postgres(url, OPTIONS);
const own: Open = (url) => connect(url, 5_000, OPTIONS);

/** Returns `pending` if a statement is not settled within two seconds. */
const outcomeOf = (query: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    query.then(
      () => 'answered',
      (error: { readonly code?: string }) => error.code,
    ),
    delay(2_000, 'pending'),
  ]);

/**
 * Each bug of postgres.js with a workaround in src/db/postgres-workarounds/: its result with the unpatched driver, and
 * with the workaround.
 */
const faults: readonly {
  readonly what: string;
  readonly outcome: (open: Open) => Promise<unknown>;
  readonly bare: unknown;
  readonly own: unknown;
}[] = [
  {
    what: 'a server that closes before it answers',
    outcome: async (open) => {
      proxy.weather = { kind: 'closing' };
      const sql = open(proxy.before(database.url));
      const outcome = await outcomeOf(sql`select 1`);
      proxy.weather = { kind: 'fair' };
      await sql.end({ timeout: 0 });
      return outcome;
    },
    bare: 'pending',
    own: 'CONNECTION_CLOSED',
  },
  {
    what: 'the last error of an ended session',
    outcome: async (open) => {
      const sql = open(database.url);
      const slow = `select pg_sleep(30) as ${open === bare ? 'bare' : 'own'}`;
      const failed = outcomeOf(sql.unsafe(slow));
      await waitUntilRunning(watcher, slow);
      await watcher`select pg_terminate_backend(pid) from pg_stat_activity where query = ${slow}`;
      const outcome = await failed;
      await sql.end({ timeout: 0 });
      return outcome;
    },
    bare: 'CONNECTION_CLOSED',
    own: '57P01',
  },
  {
    what: 'a statement that is repeated when its connection is lost',
    outcome: async (open) => {
      const sql = open(proxy.before(database.url));
      await sql`select 1`;
      const again = () => sql<{ n: number }[]>`select 1 as n`;
      const seconds = open === bare ? 20 : 21;
      const repeated = sql.unsafe(`select pg_sleep(${seconds})`, [], { prepare: true }).then(again, again);
      await waitUntilRunning(watcher, `select pg_sleep(${seconds})`);
      proxy.reset();
      const outcome = await outcomeOf(repeated);
      await sql.end({ timeout: 0 });
      return outcome;
    },
    bare: 'pending',
    own: 'answered',
  },
  {
    what: 'the text of a boolean and of a time in microseconds',
    outcome: async (open) => {
      const sql = open(database.url);
      const [row] = await sql`
        select ${'true'}::boolean as flag, ${'2026-11-22T10:11:12.345678Z'}::timestamptz::text as moment`;
      await sql.end();
      return row;
    },
    bare: { flag: false, moment: '2026-11-22 10:11:12.345+00' },
    own: { flag: true, moment: '2026-11-22 10:11:12.345678+00' },
  },
];

describe.each(faults)('$what', ({ outcome, bare: onBare, own: onOwn }) => {
  it('is lost by the unpatched driver', async () => {
    expect(await outcome(bare)).toEqual(onBare);
  });

  it('has its result with the workaround', async () => {
    expect(await outcome(own)).toEqual(onOwn);
  });
});
