import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Declared } from '../../src/db/declared.ts';
import { migrateDatabase, schemaProblem } from '../../src/db/migrate.ts';
import { UsageError } from '../../src/lib/errors.ts';
import { declaredObjects } from '../../src/reporting/views/declared-objects.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { waitUntilBlocked } from '../support/blocked-statements.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from '../support/database.ts';
import { madeUpRelease } from '../support/made-up-release.ts';
import { schemaTexts } from './declared-views.ts';

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
const appliedHashes = async () => {
  const rows = await sql<
    { hash: string }[]
  >`select hash from drizzle.__drizzle_migrations order by created_at`;
  return rows.map(({ hash }) => hash);
};

describe('an empty database', () => {
  beforeEach(() => use(emptyDatabase));

  it('lacks every migration, and is reported with the fix', async () => {
    expect(await schemaProblem(sql)).toMatch(/lacks \d+ migration.*chain-recorder migrate/);
  });

  it('is migrated by two processes at once, each migration once', async () => {
    await Promise.all(Array.from({ length: 2 }, () => migrate(database.url)));
    expect(await schemaProblem(sql)).toBeNull();
    const hashes = await appliedHashes();
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
  ])('keeps its time zone if it %s', async (_, kept, prepare) => {
    await sql.unsafe(prepare(await nameOf()));
    await migrateDatabase(database.url, []);
    expect(await zones()).toEqual(kept);
  });

  it('has days in UTC for sessions without a time zone, unless its owner sets one', async () => {
    await migrateDatabase(database.url, []);
    expect(await zones()).toEqual(['TimeZone=UTC']);
    await sql.unsafe(`alter database "${await nameOf()}" set timezone to 'Asia/Kathmandu'`);
    await migrateDatabase(database.url, []);
    expect(await zones()).toEqual(['TimeZone=Asia/Kathmandu']);
  });
});

describe('a database of the previous release', () => {
  beforeEach(() => use(testDatabase));

  it('gets the additions of the release once, with the views that read them', async () => {
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
    const before = (await appliedHashes()).length;
    const startMigration = () => migrateDatabase(database.url, [...declaredObjects(), notes], release);
    await Promise.all([startMigration(), startMigration()]);
    expect([...(await sql`select note from reporting.notes`)]).toEqual([{ note: 'made up' }]);
    expect(await appliedHashes()).toHaveLength(before + 1);
  });

  it('is unchanged if a statement of the release fails', async () => {
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

  it('is migrated again if PostgreSQL ends a deadlock of the migration and a recording statement', async () => {
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
      await waitUntilBlocked(sql);
      await run`lock table recorder.proposed_blocks in access share mode`;
    });
    await recording.end();
    await migrated;
    await sql`select note from recorder.reading_members`;
  });
});

describe('a migrated database', () => {
  beforeEach(() => use(testDatabase));

  it('matches this version, also if it is migrated twice at once', async () => {
    const before = await schema();
    await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(await schemaProblem(sql)).toBeNull();
    expect(await schema()).toEqual(before);
  });

  it('leaves live runs their leases, however long the migration took, and waits for no claim', async () => {
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

  it('of an older version lacks later changes', async () => {
    await sql`delete from drizzle.__drizzle_migrations where created_at =
      (select max(created_at) from drizzle.__drizzle_migrations)`;
    expect(await schemaProblem(sql)).toMatch(/lacks 1 migration/);
  });

  it('of a newer version is refused', async () => {
    await sql`insert into drizzle.__drizzle_migrations (hash, created_at)
      select 'of the future', max(created_at) + 1 from drizzle.__drizzle_migrations`;
    expect(await schemaProblem(sql)).toMatch(/newer chain-recorder/);
    await expect(migrate(database.url)).rejects.toThrow(UsageError);
  });

  it('with another history of migrations is refused, and unchanged', async () => {
    await sql`update drizzle.__drizzle_migrations set hash = 'a stray' where created_at =
      (select min(created_at) from drizzle.__drizzle_migrations)`;
    const before = await schema();
    await expect(migrate(database.url)).rejects.toThrow(/migration 1 of this database/);
    expect(await schema()).toEqual(before);
  });

  it('keeps objects of users on a view when the view is recreated', async () => {
    await sql`create view public.mine as select * from reporting.average_tps`;
    await sql`update recorder.reporting_objects set definition = 'another' where name = 'average_tps'`;
    await migrate(database.url);
    expect(await sql`select * from public.mine`).toEqual([]);
  });

  it('recreates objects that were dropped or changed by hand, whatever its journal contains', async () => {
    const before = await schema();
    await sql`drop view reporting.average_tps_history cascade`;
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
