import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import postgres from 'postgres';
import { Interrupted, TemporaryError, UsageError } from '../lib/errors.ts';
import { packageFile } from '../lib/package-file.ts';
import { makeReaders, Reporting } from './apply-declared.ts';
import { type LockingSession, sessionText, watchBlockers } from './blocking-sessions.ts';
import { CONNECTION } from './client.ts';
import { connect } from './connect.ts';
import type { Declared } from './declared.ts';
import { encodingProblem } from './encoding.ts';
import { renewLeases } from './leases.ts';
import { noteOwnObjects, restoreOwnObjects } from './own-objects.ts';
import { createLock, LOCKS, lockRow } from './row-lock.ts';
import { standsAsDeclared } from './schema-state.ts';
import { silenceOf } from './session.ts';
import { inOneTransaction, together } from './transaction.ts';

const FOLDER = fileURLToPath(packageFile('drizzle'));

/** How a database is migrated. */
export interface MigrateOptions {
  /** Where the migrations are. Default: those of this version. */
  readonly folder?: string;
  /** Ends the migration at once, with nothing changed. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum time of attempts that are blocked, in ms. Default: 110 s, so that all ends within two minutes. */
  readonly timeout?: number;
  /** Called with the sessions that block the migration, each time it gives way to whoever waits behind it. */
  readonly blocked?: (sessions: readonly LockingSession[]) => void;
}

/** Pause between two attempts, in which the statements behind the migration are executed, ms. */
const RETRY_PAUSE_MS = 1_500;
const BLOCKED_TIMEOUT_MS = 110_000;
const MAX_DEADLOCKS = 5;

/**
 * Brings a database to this version's schema: migrations in order, then views and functions, then the reader's rights; in
 * one transaction, so that a migrator that is killed leaves the database as it was. Safe to run by many at once, and while others record.
 * It waits for a lock for two seconds only, and then gives way, so that others are never queued behind it for long.
 * @returns what a person should know of it, in sentences
 * @throws UsageError when the database is not UTF-8, or it holds a migration that this version does not know, or lacks an
 * earlier one, or where something of the user's stands in the way of a view or a function; TemporaryError that names the sessions which
 * blocked it for two minutes; Interrupted when the signal aborted
 */
export async function migrateDatabase(
  url: string,
  declared: readonly Declared[],
  { folder = FOLDER, signal, timeout = BLOCKED_TIMEOUT_MS, blocked = () => {} }: MigrateOptions = {},
): Promise<string[]> {
  const deadline = performance.now() + timeout;
  let blockers: readonly LockingSession[] = [];
  for (let deadlocks = 0; ; ) {
    try {
      if (signal?.aborted) throw new Interrupted();
      await createLocks(url);
      return await inOneTransaction(url, signal, async (sql) => {
        const watch = watchBlockers(url, await backendOf(sql));
        try {
          return await migrateAtOnce(sql, declared, folder);
        } finally {
          const found = await watch.stop();
          if (found.length > 0) blockers = found;
        }
      });
    } catch (error) {
      if (signal?.aborted) throw new Interrupted({ cause: error });
      if (isDeadlock(error) && ++deadlocks < MAX_DEADLOCKS) continue;
      if (!isLockTimeout(error)) throw error;
      if (performance.now() > deadline) throw new TemporaryError(blockedText(blockers), { cause: error });
      blocked(blockers);
      await delay(RETRY_PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }
}

const codeOf = (error: unknown) => (error instanceof postgres.PostgresError ? error.code : null);
/** Where processes of an earlier version go on recording, a statement of theirs and the migration may wait for each other. */
const isDeadlock = (error: unknown) => codeOf(error) === '40P01';
const isLockTimeout = (error: unknown) => codeOf(error) === '55P03';

function blockedText(sessions: readonly LockingSession[]): string {
  const named =
    sessions.length > 0 ? sessions.map(sessionText).join('; ') : 'a session that has ended by now';
  const [first] = sessions;
  const fix = first
    ? `end the transaction there, or: select pg_terminate_backend(${first.pid})`
    : 'try again';
  return `the database was not migrated: for two minutes its tables or views were locked by ${named}: ${fix}`;
}

async function backendOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}

/** Creates the locks of the migration and of commits, where the database can be migrated. */
async function createLocks(url: string): Promise<void> {
  const sql = connect(url, silenceOf('work'), { ...CONNECTION, max: 1 });
  try {
    await refuseUnusable(sql);
    for (const name of [LOCKS.migrate, LOCKS.changes]) await createLock(sql, name);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function refuseUnusable(sql: postgres.Sql): Promise<void> {
  const problem = await encodingProblem(sql);
  if (problem) throw new UsageError([`DATABASE_URL: ${problem}`]);
}

async function migrateAtOnce(
  sql: postgres.Sql,
  declared: readonly Declared[],
  folder: string,
): Promise<string[]> {
  await refuseUnusable(sql);
  await sql.unsafe(lockRow('migrate'));
  const lacking = await refuseStrangeHistory(sql, folder);
  if (lacking === 0 && (await standsAsDeclared(sql, declared))) {
    await makeReaders(sql);
    return restoreOwnObjects(sql, declared);
  }
  const unrestored = lacking > 0 ? await restoreOwnObjects(sql, []) : [];
  const reporting = await Reporting.open(sql, declared);
  const later = await applyMigrations(sql, reporting, folder);
  await makeReaders(sql);
  const told = await reporting.apply();
  for (const statement of later) await reporting.changeTable(statement);
  if (lacking > 0 && unrestored.length === 0) await noteOwnObjects(sql);
  await renewLeases(sql);
  return [...told, ...(await restoreOwnObjects(sql, declared))];
}

/**
 * What Drizzle's migrator does, within our transaction: its own would be committed before the views are made.
 * @returns the statements that are for after the views ({@link AFTER_VIEWS})
 */
async function applyMigrations(sql: postgres.Sql, reporting: Reporting, folder: string): Promise<string[]> {
  await sql.unsafe(`create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`);
  const applied = await appliedMigrations(sql);
  const later: string[] = [];
  for (const migration of readMigrationFiles({ migrationsFolder: folder }).slice(applied.length)) {
    const isLater = (statement: string) => statement.trimStart().startsWith(AFTER_VIEWS);
    later.push(...migration.sql.filter(isLater));
    const statements = migration.sql.filter((statement) => !isLater(statement));
    // Nothing can stand upon tables that are only made now.
    if (applied.length === 0) await sql.unsafe(together(statements));
    else for (const statement of statements) await reporting.changeTable(statement);
    await sql`
      insert into drizzle.__drizzle_migrations (hash, created_at) values (${migration.hash}, ${migration.folderMillis})`;
  }
  return later;
}

/**
 * So begins a statement of a migration that is run once the views are as this version wants them: it drops what they read before.
 */
const AFTER_VIEWS = '-- After the views:';

/** Whether the database is UTF-8, and it has exactly this version's migrations. @returns what is wrong, for a person */
export async function schemaProblem(sql: postgres.Sql): Promise<string | null> {
  const unusable = await encodingProblem(sql);
  if (unusable) return unusable;
  const applied = await appliedMigrations(sql);
  const known = readMigrationFiles({ migrationsFolder: FOLDER });
  const unknown = applied.find((hash) => !known.some((migration) => migration.hash === hash));
  if (unknown !== undefined) return 'the database was migrated by a newer chain-recorder: upgrade this one';
  const missing = known.length - applied.length;
  return missing > 0 ? `the database lacks ${missing} migration(s): run "chain-recorder migrate"` : null;
}

/** How many of this version's migrations a database lacks. */
export async function pendingMigrations(sql: postgres.Sql): Promise<number> {
  const known = readMigrationFiles({ migrationsFolder: FOLDER });
  return Math.max(0, known.length - (await appliedMigrations(sql)).length);
}

async function appliedMigrations(sql: postgres.Sql): Promise<string[]> {
  const [table] = await sql`select to_regclass('drizzle.__drizzle_migrations') as found`;
  if (!table?.found) return [];
  const rows = await sql<
    { hash: string }[]
  >`select hash from drizzle.__drizzle_migrations order by created_at`;
  return rows.map(({ hash }) => hash);
}

/**
 * Drizzle skips a migration that is older than the last one it applied; such a history is refused instead.
 * @returns how many of this version's migrations the database lacks
 */
async function refuseStrangeHistory(sql: postgres.Sql, folder: string): Promise<number> {
  const known = readMigrationFiles({ migrationsFolder: folder });
  const applied = await appliedMigrations(sql);
  applied.forEach((hash, at) => {
    if (known[at]?.hash !== hash)
      throw new UsageError([
        `DATABASE_URL: migration ${at + 1} of this database is not the one this version of chain-recorder has; ` +
          'use the version that migrated it, or a newer one',
      ]);
  });
  return known.length - applied.length;
}
