import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import postgres from 'postgres';
import { InterruptedError, TemporaryError, UsageError } from '../lib/errors.ts';
import { packageFile } from '../lib/package-file.ts';
import { createReaderObjects, Reporting } from './apply-declared.ts';
import { formatSession, isMigration, type LockingSession, watchBlockers } from './blocking-sessions.ts';
import { CONNECTION_OPTIONS } from './client.ts';
import { connect } from './connect.ts';
import type { Declared } from './declared.ts';
import { encodingProblem } from './encoding.ts';
import { renewLeases } from './leases.ts';
import { noteOwnObjects, restoreOwnObjects } from './own-objects.ts';
import { createLock, LOCKS, lockRow } from './row-lock.ts';
import { matchesDeclaration } from './schema-state.ts';
import { silenceOf } from './session.ts';
import { inOneTransaction, joinStatements } from './transaction.ts';

const FOLDER = fileURLToPath(packageFile('drizzle'));

/** Options of a migration. */
export interface MigrateOptions {
  /** Folder of the migrations. Default: the folder with the migrations of this version. */
  readonly folder?: string;
  /**
   * Number of migrations that the database has afterwards, to create the schema of an earlier version.
   * Default: all. `declared` must then be empty, because views require the schema of this version.
   */
  readonly last?: number;
  /** Cancels the migration at once. The database stays unchanged. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum time of attempts that are blocked, in ms. Default: 100 s, so that the migration ends within two
   * minutes.
   */
  readonly timeout?: number;
  /**
   * Called with the sessions that block the migration, each time the migration releases its locks for the
   * sessions that wait for it.
   */
  readonly blocked?: (sessions: readonly LockingSession[]) => void;
}

/** Pause between two attempts, in which the statements that waited for the migration are executed, in ms. */
const RETRY_PAUSE_MS = 1_500;
const BLOCKED_TIMEOUT_MS = 100_000;
const MAX_DEADLOCKS = 5;

/**
 * Migrates a database to this version's schema: migrations in order, then views and functions, then the
 * reader's rights. All of it is one transaction, so a killed migrator leaves the database unchanged. Many
 * processes may run this function at once, and while other processes record. The migration waits for a lock
 * for 2 s only and then releases its own locks, so that other sessions do not wait for long.
 * @returns messages for the operator
 * @throws UsageError if the database is not UTF-8, has a migration of a newer version, or lacks an earlier
 * one, or if an object of a user prevents a view or a function
 * @throws TemporaryError with the blocking sessions, if they blocked the migration for `timeout`
 * @throws InterruptedError if the signal aborted
 */
export async function migrateDatabase(
  url: string,
  declared: readonly Declared[],
  { folder = FOLDER, last, signal, timeout = BLOCKED_TIMEOUT_MS, blocked = () => {} }: MigrateOptions = {},
): Promise<string[]> {
  const deadline = performance.now() + timeout;
  let blockers: readonly LockingSession[] = [];
  for (let deadlocks = 0; ; ) {
    try {
      if (signal?.aborted) throw new InterruptedError();
      await createLocks(url);
      return await inOneTransaction(url, signal, async (sql) => {
        const watch = watchBlockers(url, await backendOf(sql));
        try {
          return await migrateAtOnce(sql, declared, { folder, last });
        } finally {
          const found = await watch.stop();
          if (found.length > 0) blockers = found;
        }
      });
    } catch (error) {
      if (signal?.aborted) throw new InterruptedError({ cause: error });
      if (isDeadlock(error) && ++deadlocks < MAX_DEADLOCKS) continue;
      if (!isLockTimeout(error)) throw error;
      if (performance.now() > deadline)
        throw new TemporaryError(blockedText(blockers, timeout), { cause: error });
      blocked(blockers);
      await delay(RETRY_PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }
}

const codeOf = (error: unknown) => (error instanceof postgres.PostgresError ? error.code : null);
/** Matches a deadlock between the migration and a statement of a process of an earlier version. */
const isDeadlock = (error: unknown) => codeOf(error) === '40P01';
const isLockTimeout = (error: unknown) => codeOf(error) === '55P03';

/**
 * Returns the error text of a blocked migration.
 * @param timeout time for which the migration was tried, in ms
 */
function blockedText(sessions: readonly LockingSession[], timeout: number): string {
  const named =
    sessions.length > 0 ? sessions.map(formatSession).join('; ') : 'a session that has ended by now';
  const first = sessions.find((session) => !isMigration(session));
  if (sessions.length > 0 && !first)
    return `the database was not migrated: another process has migrated it for more than ${timeout / 1000} s: ${named}: try again when that migration has ended`;
  const fix = first
    ? `end the transaction of that session, or: select pg_terminate_backend(${first.pid})`
    : 'try again';
  return `the database was not migrated: for ${timeout / 1000} s its tables or views were locked by ${named}: ${fix}`;
}

async function backendOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}

/** Creates the lock rows of the migration and of commits, if the database can be migrated. */
async function createLocks(url: string): Promise<void> {
  const sql = connect(url, silenceOf('work'), { ...CONNECTION_OPTIONS, max: 1 });
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
  { folder, last }: { readonly folder: string; readonly last: number | undefined },
): Promise<string[]> {
  await refuseUnusable(sql);
  await sql.unsafe(lockRow('migrate'));
  const known = readMigrationFiles({ migrationsFolder: folder });
  const applied = await refuseStrangeHistory(sql, known);
  const lacking = known.slice(applied, last);
  if (lacking.length === 0 && last !== undefined) return [];
  if (lacking.length === 0 && (await matchesDeclaration(sql, declared))) {
    await createReaderObjects(sql);
    return restoreOwnObjects(sql, declared);
  }
  const unrestored = lacking.length > 0 ? await restoreOwnObjects(sql, []) : [];
  const reporting = await Reporting.open(sql, declared);
  const later = await applyMigrations(sql, reporting, lacking, applied === 0);
  await createReaderObjects(sql);
  const notices = await reporting.apply();
  for (const statement of later) await reporting.changeTable(statement);
  if (lacking.length > 0 && unrestored.length === 0) await noteOwnObjects(sql);
  await renewLeases(sql);
  return [...notices, ...(await restoreOwnObjects(sql, declared))];
}

/**
 * Applies migrations as Drizzle's migrator does, but within our transaction. Drizzle's own transaction would
 * be committed before the views are created.
 * @param isFirst the database has no tables
 * @returns the statements to run after the views ({@link AFTER_VIEWS})
 */
async function applyMigrations(
  sql: postgres.Sql,
  reporting: Reporting,
  lacking: readonly MigrationMeta[],
  isFirst: boolean,
): Promise<string[]> {
  await sql.unsafe(`create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`);
  const later: string[] = [];
  for (const migration of lacking) {
    const isLater = (statement: string) => statement.trimStart().startsWith(AFTER_VIEWS);
    later.push(...migration.sql.filter(isLater));
    const statements = migration.sql.filter((statement) => !isLater(statement));
    // No user's object can depend on tables that this transaction creates.
    if (isFirst) await sql.unsafe(joinStatements(statements));
    else for (const statement of statements) await reporting.changeTable(statement);
    await sql`
      insert into drizzle.__drizzle_migrations (hash, created_at) values (${migration.hash}, ${migration.folderMillis})`;
  }
  return later;
}

/**
 * Prefix of a statement of a migration that runs after the views of this version exist. Such a statement
 * drops objects that the views of earlier versions read.
 */
const AFTER_VIEWS = '-- After the views:';

/**
 * Checks that the database is UTF-8 and has exactly this version's migrations.
 * @returns the problem, or null
 */
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

/** Returns the number of migrations of this version. */
export const countKnownMigrations = (): number => readMigrationFiles({ migrationsFolder: FOLDER }).length;

/** Returns the number of this version's migrations that a database lacks. */
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
 * Refuses a history of migrations that is not a prefix of this version's history. Drizzle would skip a
 * migration that is older than the last applied migration.
 * @param known migrations of this version
 * @returns the number of migrations of the database
 */
async function refuseStrangeHistory(sql: postgres.Sql, known: readonly MigrationMeta[]): Promise<number> {
  const applied = await appliedMigrations(sql);
  applied.forEach((hash, at) => {
    if (known[at]?.hash !== hash)
      throw new UsageError([
        `DATABASE_URL: migration ${at + 1} of this database is not the one this version of chain-recorder has; ` +
          'use the version that migrated it, or a newer one',
      ]);
  });
  return applied.length;
}
