import { statfs } from 'node:fs/promises';
import type postgres from 'postgres';
import { testCustomRules } from '../alerts/configured-rules.ts';
import type { Environment } from '../config/environment.ts';
import type { Config } from '../config/schema.ts';
import { findForeignLocks, formatSession } from '../db/blocking-sessions.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { explainDatabaseError } from '../db/database-causes.ts';
import { checkDatabase } from '../db/examine-database.ts';
import { databaseIdentity } from '../db/identity.ts';
import { pendingMigrations, schemaProblem } from '../db/migrate.ts';
import { missingObjects } from '../db/own-objects.ts';
import { lagText, REPORTED_LAG_SECONDS, Replica } from '../db/replica.ts';
import { checkRedis } from '../jobs/examine-redis.ts';
import { queueNames } from '../jobs/jobs.ts';
import { openBackend } from '../jobs/open-backend.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { systemClock } from '../lib/clock.ts';
import { toErrorMessage, UsageError } from '../lib/errors.ts';
import type { ConfiguredFeed } from '../recording/active-feed.ts';
import { declaredObjects } from '../reporting/views/declared-objects.ts';
import { migrate } from '../reporting/views/migrate.ts';
import type { Log } from '../telemetry/log.ts';
import { checkRecording } from './check-recording.ts';

const GB = 1e9;
/** Free space that PostgreSQL needs in addition to its data, for example for its WAL, in bytes. */
const MIN_FREE_BYTES = 2 * GB;

/**
 * Checks the free space on the disk of a folder.
 * @param needed minimum free space, in bytes
 */
export async function checkDisk(folder: string, needed = MIN_FREE_BYTES): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${(free / GB).toFixed(1)} GB are free where ${folder} is`;
  if (free >= needed) return { check: 'disk', ok: true, found };
  return {
    check: 'disk',
    ok: false,
    found: `the disk is nearly full: ${found}`,
    fix: 'free disk space, or move the directory to a larger disk and start there; a full disk stops the recording',
  };
}

/** Timeout of the check of the queue, in ms. */
const QUEUE_TIMEOUT_MS = 10_000;

/** The configuration to check, and its feeds. `config` is null if the configuration is invalid. */
interface ConfigurationToCheck {
  readonly config: Config | null;
  readonly watched: readonly ConfiguredFeed[];
}

/** Checks the database, the queue, the recording and the queries of custom rules. */
export async function checkStorage(
  databaseUrl: string,
  configuration: ConfigurationToCheck,
  environment: Environment,
  log: Log,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const redis = environment.redisUrl === undefined ? null : await checkRedis(environment.redisUrl);
  const itself = await checkDatabase(databaseUrl);
  const beside = redis ? [redis] : [];
  if (!itself.ok) return [itself, ...beside];
  try {
    return await checkContents(itself, redis, databaseUrl, configuration, environment, log, signal);
  } catch (error) {
    // For example, a table that this user has no permission to read.
    return [
      { check: 'database', ok: false, ...explainDatabaseError(error, databaseUrl, 'DATABASE_URL') },
      ...beside,
    ];
  }
}

/** Runs the checks that need a connection to the database. */
async function checkContents(
  itself: CheckResult,
  redis: CheckResult | null,
  databaseUrl: string,
  { config, watched }: ConfigurationToCheck,
  environment: Environment,
  log: Log,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const database = openDatabase(databaseUrl);
  try {
    const pending = await pendingMigrations(database.sql);
    if (pending > 0 && environment.databaseUrl !== undefined) {
      const found = `${itself.found}; it lacks ${pending} migrations, which the next "chain-recorder up" or "migrate" applies`;
      return [{ ...itself, found }, ...(redis ? [redis] : [])];
    }
    if (pending > 0) await migrate(databaseUrl);
    const problem = await schemaProblem(database.sql);
    if (problem) return [{ check: 'database', ok: false, found: problem }, ...(redis ? [redis] : [])];
    const queue = redis ?? (await checkQueue(databaseUrl, database, config?.name, environment, log));
    return [
      itself,
      queue,
      ...(await examineSessions(database.sql)),
      ...(await examineObjects(database.sql)),
      ...(await checkReplica(environment, database.reader)),
      ...(await checkRecording(database.sql, config, watched, systemClock)),
      ...(config ? await examineOwnRules(config, databaseUrl, signal) : []),
    ];
  } finally {
    await database.close();
  }
}

/**
 * Returns a failed check for each dropped object of the recorder's tables and each revoked right of the
 * reader.
 */
async function examineObjects(sql: postgres.Sql): Promise<CheckResult[]> {
  const missing = await missingObjects(sql, declaredObjects());
  return missing.map(({ name }) => ({
    check: 'database',
    ok: false,
    found: `${name} is missing`,
    fix: 'run "chain-recorder migrate", which restores it',
  }));
}

/** Returns sessions of other programs that hold locks on objects of the recorder. */
async function examineSessions(sql: postgres.Sql): Promise<CheckResult[]> {
  return (await findForeignLocks(sql)).map((session) => {
    const text = formatSession(session);
    return session.isBlocking
      ? {
          check: 'database',
          ok: false,
          found: `a session blocks the recorder: ${text}`,
          fix: `end its transaction, or: select pg_terminate_backend(${session.pid})`,
        }
      : { check: 'database', ok: true, found: `a session holds locks, which blocks migrations: ${text}` };
  });
}

/** Checks that the queries of custom rules can run. Also returns the queries that could not be tested. */
async function examineOwnRules({ alerts }: Config, url: string, signal: AbortSignal): Promise<CheckResult[]> {
  const check = 'alerts';
  try {
    const untested = await testCustomRules(alerts, url, signal);
    return untested.map(({ path, cause }) => ({
      check,
      ok: true,
      found: `${path}: the query was not tested: ${cause}`,
    }));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.problems.map((found) => ({ check, ok: false, found }));
  }
}

async function checkQueue(
  databaseUrl: string,
  database: Database,
  recorder = 'recorder',
  { redisUrl }: Environment,
  log: Log,
): Promise<CheckResult> {
  const impatience = new AbortController();
  const checkQueue = async (): Promise<CheckResult> => {
    const identity = () => databaseIdentity(database.sql);
    const backend = await openBackend({ redisUrl, databaseUrl, identity }, log, impatience.signal);
    const opened = await backend.queue(queueNames(recorder).polls);
    const objection = await opened.objection();
    const schedules = await opened.getJobSchedulers();
    await opened.close().catch(() => {});
    await backend.close();
    if (objection) return { check: 'queue', ok: false, ...objection };
    return { check: 'queue', ok: true, found: `${backend.kind}, ${schedules.length} schedules set` };
  };
  try {
    return await Promise.race([checkQueue(), timeout()]);
  } catch (error) {
    return {
      check: 'queue',
      ok: false,
      found: `${redisUrl ? 'redis' : 'postgres'}: ${toErrorMessage(error)}`,
    };
  } finally {
    impatience.abort();
  }
}

function timeout(): Promise<never> {
  return new Promise((_, reject) =>
    setTimeout(
      () => reject(new Error(`no response within ${QUEUE_TIMEOUT_MS} ms`)),
      QUEUE_TIMEOUT_MS,
    ).unref(),
  );
}

/**
 * Checks the configured replica, if any: whether the replica can be read instead of the primary, and its lag.
 */
async function checkReplica(
  { reportingUrl }: Pick<Environment, 'reportingUrl'>,
  primary: postgres.Sql,
): Promise<CheckResult[]> {
  if (reportingUrl === undefined) return [];
  const replica = new Replica(reportingUrl);
  const check = 'replica';
  try {
    const found = await replica.check(primary);
    const about = `${replica.address}: ${found.error ?? lagText(found)}`;
    if (found.error !== null)
      return [
        {
          check,
          ok: false,
          found: about,
          fix: 'correct REPORTING_DATABASE_URL, or see the log of the replica',
        },
      ];
    if ((found.lagSeconds ?? 0) > REPORTED_LAG_SECONDS)
      return [
        {
          check,
          ok: false,
          found: about,
          fix: 'check the load and the network of the replica, and its queries that delay the replay',
        },
      ];
    const [row] = await replica.sql<{ standby: boolean; feedback: boolean }[]>`
      select pg_is_in_recovery() as standby, current_setting('hot_standby_feedback')::boolean as feedback`;
    const hint =
      row?.standby && !row.feedback
        ? '; hot_standby_feedback is off on the replica: long reads, such as exports, may be cancelled while the primary cleans up'
        : '';
    const itself = row?.standby ? '' : '; it is the primary itself, so its load is not reduced';
    return [{ check, ok: true, found: `${about}${hint}${itself}` }];
  } finally {
    await replica.close();
  }
}
