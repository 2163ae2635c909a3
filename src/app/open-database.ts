import { join } from 'node:path';
import type { Environment } from '../config/environment.ts';
import { formatSession, isMigration, type LockingSession } from '../db/blocking-sessions.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { refusePoolerAt } from '../db/detect-pooler.ts';
import { openEmbedded } from '../db/embedded/embedded.ts';
import { withDatabaseDiagnosis } from '../db/examine-database.ts';
import { schemaProblem } from '../db/migrate.ts';
import { waitUntilReachable } from '../db/wait-until-reachable.ts';
import { toErrorMessage, UsageError } from '../lib/errors.ts';
import { migrate } from '../reporting/views/migrate.ts';
import type { Log } from '../telemetry/log.ts';
import { rememberRecord } from './known-records.ts';
import type { StateDirectory } from './state-directory.ts';

/** The database of a command: the database in DATABASE_URL, or the embedded database. */
export interface RecordDatabase {
  readonly databaseUrl: string;
  /** True if the database is embedded and its process ids are valid on this system. */
  readonly embedded: boolean;
  /** Data folder of the embedded database; null if the database is not embedded. */
  readonly embeddedDirectory: string | null;
  /**
   * Restarts the embedded database whenever it exits, until the signal aborts.
   * @throws TemporaryError if a restart fails
   */
  readonly superviseDatabase: (signal: AbortSignal) => Promise<void>;
  readonly database: Database;
  close(): Promise<void>;
}

/** Options for opening the database of a command. */
export interface DatabaseOptions {
  /** Migrate the schema first: `up` and `migrate`. The embedded database is always migrated. */
  readonly migrate?: boolean;
  /** Wait for an unreachable database until this signal aborts. Default: fail. */
  readonly waitSignal?: AbortSignal;
  /** Aborts the start of the embedded database and a migration immediately. */
  readonly signal?: AbortSignal;
  /** Loads modules that are needed later, concurrently with the migration of the schema. */
  readonly load?: () => Promise<unknown>;
}

/** Maximum number of attempts to open an embedded database whose server is stopped meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * Opens the database of a command. Opens an embedded database again if its server was stopped meanwhile. When
 * a container ends, a server that was started in this container also ends.
 * @throws UsageError if the database is invalid
 */
export async function openRecordDatabase(
  environment: Environment,
  state: StateDirectory,
  log: Log,
  options: DatabaseOptions,
): Promise<RecordDatabase> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openOnce(environment, state, log, options);
    } catch (error) {
      const mayRetry = environment.databaseUrl === undefined && attempt < MAX_ATTEMPTS;
      if (!mayRetry || options.signal?.aborted || !isDatabaseUnavailable(error)) throw error;
      log.warn(
        { error: toErrorMessage(error) },
        'embedded PostgreSQL became unavailable while it was opened: opening it again',
      );
    }
  }
}

async function openOnce(
  environment: Environment,
  state: StateDirectory,
  log: Log,
  options: DatabaseOptions,
): Promise<RecordDatabase> {
  const embedded = environment.databaseUrl
    ? null
    : await openEmbedded({ dir: state.path, log, port: environment.pgPort, signal: options.signal });
  const databaseUrl = environment.databaseUrl ?? embedded?.url ?? '';
  try {
    if (embedded && !state.isTemporary) warnOfOtherRecord(environment, state, embedded.created, log);
    const database = await withDatabaseDiagnosis(databaseUrl, async () => {
      await waitOrRefuse(databaseUrl, embedded === null, log, options.waitSignal);
      await migrateAndLoad(databaseUrl, embedded !== null, log, options);
      return openMigrated(databaseUrl);
    });
    return {
      databaseUrl,
      embedded: embedded?.ownNamespace ?? false,
      embeddedDirectory: embedded ? join(state.path, 'postgres') : null,
      superviseDatabase: async (signal) => embedded?.supervise(signal),
      database,
      close: async () => {
        await database.close();
        await embedded?.close();
      },
    };
  } catch (error) {
    const explained = await embedded?.explainFailure(error);
    await embedded?.close();
    throw explained ?? error;
  }
}

/** Waits for an unreachable database if there is a signal. Otherwise only refuses a connection pooler. */
async function waitOrRefuse(
  databaseUrl: string,
  isExternal: boolean,
  log: Log,
  waitSignal: AbortSignal | undefined,
): Promise<void> {
  if (waitSignal)
    await waitUntilReachable(databaseUrl, waitSignal, (cause) =>
      log.warn({ cause }, 'the database cannot be reached: waiting for it'),
    );
  else if (isExternal) await refusePoolerAt(databaseUrl, 'DATABASE_URL');
}

async function migrateAndLoad(
  databaseUrl: string,
  isEmbedded: boolean,
  log: Log,
  { migrate: isRequested, signal, load }: DatabaseOptions,
): Promise<void> {
  const migrating =
    isRequested || isEmbedded
      ? migrate(databaseUrl, { signal, blocked: (sessions) => logBlockedMigration(log, sessions) })
      : [];
  if (isRequested) log.info('migrating the schema of the database, and loading the pages');
  const [warnings] = await Promise.all([migrating, load?.()]);
  for (const warning of warnings) log.warn(warning);
}

/**
 * Opens a migrated database.
 * @throws UsageError if the database does not have the schema of this version
 */
async function openMigrated(databaseUrl: string): Promise<Database> {
  const database = openDatabase(databaseUrl);
  const problem = await schemaProblem(database.sql).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  if (problem === null) return database;
  await database.close();
  throw new UsageError([`DATABASE_URL: ${problem}`]);
}

function warnOfOtherRecord(
  { stateHome }: Environment,
  { path }: StateDirectory,
  isNew: boolean,
  log: Log,
): void {
  const directories = rememberRecord(path, isNew, stateHome);
  if (directories)
    log.warn(
      directories,
      'created a new, empty database: this directory had none; the last one is in another directory; to continue with it, run chain-recorder there',
    );
}

function logBlockedMigration(log: Log, sessions: readonly LockingSession[]): void {
  log.warn(
    { sessions: sessions.map(formatSession) },
    sessions.length > 0 && sessions.every(isMigration)
      ? 'another process migrates the database: waiting for it'
      : 'the migration waits for sessions that hold locks: end their transactions; the migration is retried and then refused',
  );
}
