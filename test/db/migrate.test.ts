import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { foreignLocks, type LockingSession, sessionText } from '../../src/db/blocking-sessions.ts';
import type { Declared } from '../../src/db/declared.ts';
import { migrateDatabase, schemaProblem } from '../../src/db/migrate.ts';
import { missingObjects } from '../../src/db/own-objects.ts';
import { Interrupted, TemporaryError, UsageError } from '../../src/lib/errors.ts';
import { declaredObjects } from '../../src/reporting/views/declared-objects.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { blocked } from '../support/blocked.ts';
import { cutAfter } from '../support/cut-connection.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from '../support/database.ts';
import { madeUpRelease } from '../support/made-up-release.ts';
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

const schema = () => schemaTexts(sql);
const nameOf = async () => (await sql<{ name: string }[]>`select current_database() as name`)[0]?.name ?? '';
const applied = async () => {
  const rows = await sql<
    { hash: string }[]
  >`select hash from drizzle.__drizzle_migrations order by created_at`;
  return rows.map(({ hash }) => hash);
};

describe('an empty database', () => {
  beforeEach(() => use(emptyDatabase));

  it('lacks every migration, and says what to do', async () => {
    expect(await schemaProblem(sql)).toMatch(/lacks \d+ migration.*chain-recorder migrate/);
  });

  it('is brought to this version by two at once, each migration once', async () => {
    await Promise.all(Array.from({ length: 2 }, () => migrate(database.url)));
    expect(await schemaProblem(sql)).toBeNull();
    const hashes = await applied();
    expect(new Set(hashes).size).toBe(hashes.length);
    const made = await schema();
    expect(made.length).toBeGreaterThan(100);
    await migrate(database.url);
    expect(await schema()).toEqual(made);
  });

  const zones = async () => {
    const rows = await sql<{ zone: string }[]>`
      select unnest(s.setconfig) as zone from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
      where d.datname = current_database() and s.setrole = 0`;
    return rows.map(({ zone }) => zone);
  };

  it.each([
    ['has tables of others', [], () => 'create schema theirs; create table theirs.orders (at timestamptz)'],
    ['has a view of others in public', [], () => 'create view orders as select now() as at'],
    [
      'was given a time zone',
      ['TimeZone=Asia/Kathmandu'],
      (name: string) => `alter database "${name}" set timezone to 'Asia/Kathmandu'`,
    ],
  ])('keeps its time zone where it %s', async (_, kept, prepare) => {
    await sql.unsafe(prepare(await nameOf()));
    await migrate(database.url);
    expect(await zones()).toEqual(kept);
  });

  it('has days of UTC for sessions that name no zone, unless its owner sets another one', async () => {
    await migrate(database.url);
    expect(await zones()).toEqual(['TimeZone=UTC']);
    await sql.unsafe(`alter database "${await nameOf()}" set timezone to 'Asia/Kathmandu'`);
    await migrate(database.url);
    expect(await zones()).toEqual(['TimeZone=Asia/Kathmandu']);
  });
});

describe('a database of the release before', () => {
  beforeEach(() => use(testDatabase));

  it('gets what the release adds, once, with the views that read it', async () => {
    await using release = await madeUpRelease(
      'alter table recorder.targets add column note text',
      "update recorder.targets set note = 'made up'",
    );
    await sql`insert into recorder.targets (source, target_key, target) values ('s', 'one', '{}')`;
    const notes: Declared = {
      kind: 'view',
      name: 'notes',
      comment: 'Notes.',
      columns: [],
      body: 'select note from recorder.targets',
    };
    const before = (await applied()).length;
    const migrating = () => migrateDatabase(database.url, [...declaredObjects(), notes], release);
    await Promise.all([migrating(), migrating()]);
    expect([...(await sql`select note from reporting.notes`)]).toEqual([{ note: 'made up' }]);
    expect(await applied()).toHaveLength(before + 1);
  });

  it('stays as it was where a statement of the release fails', async () => {
    await using release = await madeUpRelease(
      'alter table recorder.targets add column note text',
      'select 1 / 0',
    );
    const before = await schema();
    await expect(migrateDatabase(database.url, declaredObjects(), release)).rejects.toThrow(
      /division by zero/,
    );
    expect(await schema()).toEqual(before);
  });

  it('is migrated once more where PostgreSQL ends a deadlock of the migration and a recording statement', async () => {
    await using release = await madeUpRelease(
      'alter table recorder.proposed_blocks add column note text',
      'alter table recorder.reading_members add column note text',
    );
    const recording = postgres(database.url, {
      max: 1,
      onnotice: () => {},
      // Only the migration checks for deadlocks, so that PostgreSQL ends that.
      connection: { deadlock_timeout: '1h' },
    });
    let migrated: Promise<string[]> | undefined;
    await recording.begin(async (run) => {
      await run`lock table recorder.reading_members in access share mode`;
      migrated = migrateDatabase(database.url, declaredObjects(), release);
      migrated.catch(() => {});
      await blocked(sql);
      await run`lock table recorder.proposed_blocks in access share mode`;
    });
    await recording.end();
    await migrated;
    await sql`select note from recorder.reading_members`;
  });
});

describe('a migrated database', () => {
  beforeEach(() => use(testDatabase));

  it('is as this version wants it, and stays so when it is migrated twice at once', async () => {
    const before = await schema();
    await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(await schemaProblem(sql)).toBeNull();
    expect(await schema()).toEqual(before);
  });

  it('leaves the leases of runs that live to them, however long it took, and waits for no claim', async () => {
    await sql`insert into recorder.targets (source, target_key, target, run_id, lease_until) values
      ('s', 'lives', '{}', 1, now() + interval '1 second'), ('s', 'in hand', '{}', 2, now() + interval '1 second'),
      ('s', 'dead', '{}', 3, now() - interval '1 second'), ('s', 'free', '{}', null, null)`;
    await sql`comment on view reporting.subnets is 'by hand'`;
    const leases = () => sql<{ target_key: string; lease_until: Date | null }[]>`
      select target_key, lease_until from recorder.targets order by target_key`;
    const before = await leases();
    const claiming = postgres(database.url, { max: 1, onnotice: () => {} });
    await claiming.begin(async (claim) => {
      await claim`select from recorder.targets where target_key = 'in hand' for update`;
      await migrate(database.url);
    });
    await claiming.end();
    const changed = (await leases()).filter(
      ({ lease_until }, at) => lease_until?.getTime() !== before[at]?.lease_until?.getTime(),
    );
    expect(changed.map(({ target_key }) => target_key)).toEqual(['lives']);
    const [lives] =
      await sql`select lease_until > now() + interval '1 second' as longer from recorder.targets where target_key = 'lives'`;
    expect(lives).toEqual({ longer: true });
  });

  it('that an older version made lacks what came since', async () => {
    await sql`delete from drizzle.__drizzle_migrations where created_at =
      (select max(created_at) from drizzle.__drizzle_migrations)`;
    expect(await schemaProblem(sql)).toMatch(/lacks 1 migration/);
  });

  it('that a newer version made is refused', async () => {
    await sql`insert into drizzle.__drizzle_migrations (hash, created_at)
      select 'of the future', max(created_at) + 1 from drizzle.__drizzle_migrations`;
    expect(await schemaProblem(sql)).toMatch(/newer chain-recorder/);
    await expect(migrate(database.url)).rejects.toThrow(UsageError);
  });

  it('whose history is another one is refused, and left as it is', async () => {
    await sql`update drizzle.__drizzle_migrations set hash = 'a stray' where created_at =
      (select min(created_at) from drizzle.__drizzle_migrations)`;
    const before = await schema();
    await expect(migrate(database.url)).rejects.toThrow(/migration 1 of this database/);
    expect(await schema()).toEqual(before);
  });

  it('keeps what users built on a view when the view is made anew', async () => {
    await sql`create view public.mine as select * from reporting.average_tps`;
    await sql`update recorder.reporting_objects set definition = 'another'`;
    await migrate(database.url);
    expect(await sql`select * from public.mine`).toEqual([]);
  });

  it('gets back what was dropped or changed by hand, whatever is noted of it', async () => {
    const before = await schema();
    await sql`drop view reporting.average_tps_revisions cascade`;
    await sql`drop function reporting.subnets_as_of`;
    const [view] = await sql<
      { text: string }[]
    >`select pg_get_viewdef('reporting.coverage'::regclass) as text`;
    await sql.unsafe(`create or replace view reporting.coverage as
      select * from (${view?.text.replace(/;\s*$/, '')}) as old where false`);
    await migrate(database.url);
    expect(await schema()).toEqual(before);
    expect(await sql`select pg_get_viewdef('reporting.coverage'::regclass) as text`).toEqual([view]);
  });
});

describe('what is declared', () => {
  beforeEach(() => use(testDatabase));

  const columns = () => declaredColumns(sql);

  it('moves its columns together with what depends on it', async () => {
    await migrateDatabase(database.url, before);
    expect(await columns()).toEqual(['base.a', 'base.b', 'theirs.b']);
    await migrateDatabase(database.url, moved);
    expect(await columns()).toEqual(['base.b', 'theirs.b']);
    expect(await sql`select * from reporting.theirs_of()`).toEqual([{ b: 2 }]);
  });

  it('is not put in the place of a view or a function of the user', async () => {
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

  it('is not put in the place of a table of the user', async () => {
    await sql`create schema if not exists reporting`;
    await sql`create table reporting.theirs (mine int)`;
    await expect(migrateDatabase(database.url, before)).rejects.toThrow(
      /"theirs" is not a view[\s\S]*rename/,
    );
    expect(await columns()).toEqual(['theirs.mine']);
  });

  it('is all old or all new when its maker is killed between two objects', async () => {
    await migrateDatabase(database.url, before);
    const holder = postgres(database.url, { max: 1, onnotice: () => {} });
    const migrating = await holder.begin(async (holding) => {
      await holding`select * from reporting.theirs`; // it cannot be replaced meanwhile, what comes before it can
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

  it('is all old or all new when the connection of its maker breaks', async () => {
    await migrateDatabase(database.url, before);
    const old = await schema();
    const breaks = async (after: number) => {
      const proxy = await cutAfter(database.url, after);
      const outcome = await migrateDatabase(proxy.url, moved).catch((error: unknown) => error);
      await proxy.close();
      return { cut: proxy.cut(), outcome };
    };
    // Cuts after 12 to 14 statements may hit the connection that watches for blocking sessions, which stops nothing.
    for (const after of [2, 8, 20, 28]) {
      const { cut, outcome } = await breaks(after);
      expect(cut).toBe(true);
      expect(outcome).toBeInstanceOf(Error);
      expect(await schema()).toEqual(old);
    }
    expect((await breaks(1_000)).cut).toBe(false);
    expect(await columns()).toEqual(['base.b', 'theirs.b']);
  });
});

describe('a reader in an idle transaction', () => {
  beforeEach(() => use(testDatabase));

  /** This version with another text of the view that the reader has read. */
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

  it('blocks nobody but the migration, which names it and goes on when it ends', async () => {
    await whileRead(async (end) => {
      const before = await definition();
      const told: string[] = [];
      const others: number[] = [];
      const looking = new AbortController();
      const blocked = async (sessions: readonly LockingSession[]) => {
        told.push(...sessions.map(sessionText));
        if (told.length === 1) await end();
      };
      const migrating = migrateDatabase(database.url, changed, { blocked });
      const reading = (async () => {
        while (!looking.signal.aborted) {
          const begun = performance.now();
          await sql`select count(*) from reporting.freshness`;
          others.push(performance.now() - begun);
        }
      })();
      await migrating;
      looking.abort();
      await reading;
      expect(told[0]).toMatch(
        /^process \d+, user "\w+", application "some-notebook", idle in transaction, since 20/,
      );
      expect(await definition()).not.toBe(before);
      expect(Math.max(...others)).toBeLessThan(10_000);
    });
  });

  it('stops it for a bounded time, after which it is refused for now, with the session and what ends it', async () => {
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

  it.each([
    'select from recorder_locks.locks for update',
    'lock table recorder.targets in access share mode',
  ])('with other locks the migration is stopped at once by a signal: %s', async (locking) => {
    const holder = postgres(database.url, { max: 1 });
    await holder.unsafe(`begin; ${locking}; select from reporting.freshness`);
    const stop = new AbortController();
    const migrating = migrateDatabase(database.url, changed, { signal: stop.signal });
    await blocked(sql);
    const aborted = performance.now();
    stop.abort();
    await expect(migrating).rejects.toThrow(Interrupted);
    expect(performance.now() - aborted).toBeLessThan(1_500);
    await holder.end({ timeout: 1 });
  });

  it('is named by what doctor queries, as soon as it blocks the recorder', async () => {
    await whileRead(async () => {
      expect(await foreignLocks(sql)).toEqual([]);
      const stop = new AbortController();
      const migrating = migrateDatabase(database.url, changed, { signal: stop.signal }).catch(() => {});
      await expect
        .poll(() => foreignLocks(sql))
        .toMatchObject([{ application: 'some-notebook', state: 'idle in transaction', isBlocking: true }]);
      stop.abort();
      await migrating;
    });
  });
});

describe('what somebody took from a migrated database', () => {
  beforeEach(() => use(testDatabase));

  const missing = async () => (await missingObjects(sql, declaredObjects())).map(({ name }) => name);
  const all = () => sql<{ name: string; statement: string }[]>`
    select name, statement from recorder.own_objects order by name`;

  it('is named, and restored: constraints, indexes, defaults and NOT NULL', async () => {
    const objects = await all();
    expect(objects.length).toBeGreaterThan(200);
    const kinds = ['constraint', 'index', 'default', 'not'];
    // Of each kind some, at any place of the list.
    const taken = kinds.flatMap((kind) => {
      const some = objects.filter(({ name }) => name.startsWith(`${kind} `));
      return some.filter((_, place) => place % Math.ceil(some.length / 6) === 0);
    });
    const dropped: string[] = [];
    for (const { name, statement } of taken) {
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
    expect(await missing()).toEqual(expect.arrayContaining(dropped));
    expect(await migrate(database.url)).toEqual([]);
    expect(await missing()).toEqual([]);
    expect(await all()).toEqual(objects);
  });

  it.each([
    'revoke usage on schema reporting from recorder_reader',
    'revoke select on reporting.freshness from recorder_reader',
    'revoke execute on all functions in schema reporting from public',
    'drop owned by recorder_reader',
  ])('is named, and restored: %s', async (statement) => {
    await sql.unsafe(statement);
    expect((await missing()).length).toBeGreaterThan(0);
    expect(await migrate(database.url)).toEqual([]);
    expect(await missing()).toEqual([]);
    await sql.begin(async (reader) => {
      await reader.unsafe('set local role recorder_reader');
      await reader`select from reporting.freshness`;
    });
  });

  it('is told of where rows of today do not let it be restored', async () => {
    await sql`alter table recorder.seals drop constraint seals_pkey cascade`;
    await sql`insert into recorder.own_objects values ('constraint seals_pkey on recorder.none', 'alter table recorder.none add primary key (x)')`;
    expect(await migrate(database.url)).toEqual([
      expect.stringContaining('constraint seals_pkey on recorder.none is missing and could not be restored'),
    ]);
    expect(await missing()).toEqual(['constraint seals_pkey on recorder.none']);
  });
});
