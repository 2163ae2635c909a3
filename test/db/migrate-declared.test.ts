import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findForeignLocks, formatSession } from '../../src/db/blocking-sessions.ts';
import { migrateDatabase } from '../../src/db/migrate.ts';
import { TemporaryError } from '../../src/lib/errors.ts';
import { declaredObjects } from '../../src/reporting/views/declared-objects.ts';
import { waitUntilBlocked } from '../support/blocked-statements.ts';
import { cutAfter } from '../support/cut-connection.ts';
import { bareDatabase, type TestDatabase, testDatabase } from '../support/database.ts';
import { before, declaredColumns, moved, schemaTexts } from './declared-views.ts';

let database: TestDatabase;
let sql: postgres.Sql;

async function use(make: () => Promise<TestDatabase>): Promise<void> {
  database = await make();
  sql = postgres(database.url, { max: 2, onnotice: () => {} });
}
afterEach(async () => {
  await sql.end();
  await database.close();
});

describe('the declared objects', () => {
  beforeEach(() => use(bareDatabase));

  const columns = () => declaredColumns(sql);

  it('move columns together with the objects that depend on them', async () => {
    await migrateDatabase(database.url, before);
    expect(await columns()).toEqual(['base.a', 'base.b', 'theirs.b']);
    await migrateDatabase(database.url, moved);
    expect(await columns()).toEqual(['base.b', 'theirs.b']);
    expect(await sql`select * from reporting.theirs_of()`).toEqual([{ b: 2 }]);
  });

  it('do not replace a view or a function of the user', async () => {
    await sql`create view reporting.base as select 'mine' as mine`;
    await expect(migrateDatabase(database.url, before)).rejects.toThrow(
      /a view of this name that chain-recorder did not create[\s\S]*rename/,
    );
    await sql`drop view reporting.base`;
    await sql`create function reporting.theirs_of() returns text language sql as $$select 'mine'$$`;
    await expect(migrateDatabase(database.url, before)).rejects.toThrow(/a function of this name/);
    expect(await columns()).toEqual([]);
    expect([...(await sql`select * from reporting.theirs_of()`)]).toEqual([{ theirs_of: 'mine' }]);
  });

  it('do not replace a table of the user', async () => {
    await sql`create schema if not exists reporting`;
    await sql`create table reporting.theirs (mine int)`;
    await expect(migrateDatabase(database.url, before)).rejects.toThrow(
      /"theirs" is not a view[\s\S]*rename/,
    );
    expect(await columns()).toEqual(['theirs.mine']);
  });

  it('are all old or all new when the migration is killed between two objects', async () => {
    await migrateDatabase(database.url, before);
    const holder = postgres(database.url, { max: 1, onnotice: () => {} });
    const migrating = await holder.begin(async (holding) => {
      await holding`select * from reporting.theirs`; // it cannot be replaced meanwhile; earlier objects can
      const outcome = migrateDatabase(database.url, moved).then(
        () => null,
        (error: unknown) => error,
      );
      const kill = async () => {
        const rows = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%view reporting.base%'`;
        return rows.length;
      };
      await expect.poll(kill).toBe(1);
      return { outcome };
    });
    expect(await migrating.outcome).toBeInstanceOf(Error);
    expect(await columns()).toEqual(['base.a', 'base.b', 'theirs.b']);
    expect(await sql`select * from reporting.theirs_of()`).toEqual([{ b: 2 }]);
    await holder.end();
    await migrateDatabase(database.url, moved);
    expect(await columns()).toEqual(['base.b', 'theirs.b']);
  });

  it('are all old or all new when the connection of the migration breaks', async () => {
    await migrateDatabase(database.url, before);
    const old = await schemaTexts(sql);
    const breaks = async (after: number) => {
      const proxy = await cutAfter(database.url, after);
      const outcome = await migrateDatabase(proxy.url, moved).catch((error: unknown) => error);
      await proxy.close();
      return { cut: proxy.cut(), outcome };
    };
    // The connection that checks for blocking sessions has fewer statements, and its end stops nothing.
    for (const after of [2, 8, 20, 28]) {
      const { cut, outcome } = await breaks(after);
      expect(cut).toBe(true);
      expect(outcome).toBeInstanceOf(Error);
      expect(await schemaTexts(sql)).toEqual(old);
    }
    expect((await breaks(1_000)).cut).toBe(false);
    expect(await columns()).toEqual(['base.b', 'theirs.b']);
  });
});

describe('a reader in an idle transaction', () => {
  beforeEach(() => use(testDatabase));

  /** Returns this version with another text of the view that the reader has queried. */
  const changed = declaredObjects().map((object) =>
    object.name === 'freshness' ? { ...object, body: `select * from (${object.body}) as changed` } : object,
  );
  const definition = async () => {
    const [row] = await sql<
      { text: string }[]
    >`select pg_get_viewdef('reporting.freshness'::regclass) as text`;
    return row?.text ?? '';
  };

  async function whileRead<T>(work: (end: () => Promise<unknown>) => Promise<T>): Promise<T> {
    const reader = postgres(database.url, { max: 1, connection: { application_name: 'some-notebook' } });
    try {
      await reader.unsafe('begin; select from reporting.freshness');
      return await work(() => reader`commit`);
    } finally {
      await reader.end({ timeout: 1 });
    }
  }

  it('blocks only the migration, which names it and continues when it ends', async () => {
    await whileRead(async (end) => {
      const before = await definition();
      const blockedSessions: string[] = [];
      const migrating = migrateDatabase(database.url, changed, {
        blocked: (sessions) => void blockedSessions.push(...sessions.map(formatSession)),
      });
      await waitUntilBlocked(sql);
      // This query waits behind the migration until that gives way, while the reader's transaction stays open.
      await sql`select from reporting.freshness`;
      await expect.poll(() => blockedSessions.length).toBeGreaterThan(0);
      await end();
      await migrating;
      expect(blockedSessions[0]).toMatch(
        /^process \d+, user "\w+", application "some-notebook", idle in transaction, since 20/,
      );
      expect(await definition()).not.toBe(before);
    });
  });

  it('stops the migration for a bounded time, after which it is refused with the session and the fix', async () => {
    await whileRead(async () => {
      const before = await definition();
      const refused = await migrateDatabase(database.url, changed, { timeout: 0 }).catch(
        (error: unknown) => error,
      );
      expect(refused).toBeInstanceOf(TemporaryError);
      expect(String(refused)).toMatch(/locked by process \d+.*"some-notebook".*pg_terminate_backend\(\d+\)/);
      expect(await definition()).toBe(before);
    });
  });

  it('is not blamed for another running migration, which is waited for', async () => {
    const other = postgres(database.url, {
      max: 1,
      connection: { application_name: 'chain-recorder migrate' },
    });
    await other.unsafe(`begin; select from recorder_locks.locks where name = 'migrate' for no key update`);
    const refused = await migrateDatabase(database.url, changed, { timeout: 0 }).catch(String);
    expect(refused).toMatch(
      /another process has migrated it .*process \d+.*: try again when that migration has ended$/,
    );
    await other.end({ timeout: 1 });
  });

  it.each([
    'select from recorder_locks.locks for update',
    'lock table recorder.targets in access share mode',
  ])('lets a signal stop a migration that waits for another lock: %s', async (locking) => {
    const holder = postgres(database.url, { max: 1 });
    await holder.unsafe(`begin; ${locking}; select from reporting.freshness`);
    const stop = new AbortController();
    const migrating = migrateDatabase(database.url, changed, { signal: stop.signal });
    await waitUntilBlocked(sql);
    stop.abort();
    // The signal ended its connection; it did not wait for the lock timeout.
    await expect(migrating).rejects.toMatchObject({
      name: 'InterruptedError',
      cause: expect.objectContaining({ code: 'CONNECTION_DESTROYED' }),
    });
    await holder.end({ timeout: 1 });
  });

  it('is reported by doctor as soon as it blocks the recorder', async () => {
    await whileRead(async () => {
      expect(await findForeignLocks(sql)).toEqual([]);
      const stop = new AbortController();
      const migrating = migrateDatabase(database.url, changed, { signal: stop.signal }).catch(() => {});
      await expect
        .poll(() => findForeignLocks(sql))
        .toMatchObject([{ application: 'some-notebook', state: 'idle in transaction', isBlocking: true }]);
      stop.abort();
      await migrating;
    });
  });
});
