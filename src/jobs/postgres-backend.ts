import { setTimeout as delay } from 'node:timers/promises';
import type { PgPool, Queue, Telemetry } from 'bullmq';
import type { Pool, PoolClient } from 'pg';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { openQueuePool } from '../db/queue-pool.ts';
import { LOCKS, withRowLock } from '../db/row-lock.ts';
import { InterruptedError } from '../lib/errors.ts';
import { type OnError, type QueueBackend, STALLED_JOB_OPTIONS } from './backend.ts';
import { createPostgresBackend, DEFAULT_SCHEMA, isPgPool, runMigrations, withBackend } from './bullmq.ts';
import type { JobData } from './jobs.ts';

/**
 * Returns SQL statements that replace the advisory locks in the functions of BullMQ by row locks. All roles
 * of a database share the namespace of advisory locks, so a read-only role could block a queue with the
 * number that is derived from the name of the queue. The search path of BullMQ's functions contains these
 * lock functions first.
 * - An exclusive lock inserts a key and deletes the key in the same transaction. Another insert of the key
 * waits for the end of this transaction, and no row remains.
 * - A shared lock, and a `try` lock, has a permanent row, because their keys are derived from the few names
 * of queues.
 */
const LOCK_FUNCTIONS = (schema: string) => `
create schema if not exists ${schema};
create table if not exists ${schema}.lock_exclusive (key bigint primary key);
create table if not exists ${schema}.lock_shared (key bigint primary key);
create or replace function ${schema}.pg_advisory_xact_lock(key bigint) returns void language plpgsql set search_path = pg_catalog as $$
begin
  insert into ${schema}.lock_exclusive as l values ($1);
  delete from ${schema}.lock_exclusive as l where l.key = $1;
end $$;
create or replace function ${schema}.lock_row(key bigint) returns void language sql set search_path = pg_catalog as $$
  insert into ${schema}.lock_shared values ($1) on conflict do nothing
$$;
create or replace function ${schema}.pg_advisory_xact_lock(one int, two int) returns void language plpgsql set search_path = pg_catalog as $$
begin
  perform ${schema}.lock_row((one::bigint << 32) | (two::bigint & 4294967295));
  perform from ${schema}.lock_shared l where l.key = (one::bigint << 32) | (two::bigint & 4294967295) for update;
end $$;
create or replace function ${schema}.pg_advisory_xact_lock_shared(one int, two int) returns void language plpgsql set search_path = pg_catalog as $$
begin
  perform ${schema}.lock_row((one::bigint << 32) | (two::bigint & 4294967295));
  perform from ${schema}.lock_shared l where l.key = (one::bigint << 32) | (two::bigint & 4294967295) for key share;
end $$;
create or replace function ${schema}.pg_try_advisory_xact_lock(key bigint) returns boolean language plpgsql set search_path = pg_catalog as $$
begin
  perform ${schema}.lock_row(key);
  perform from ${schema}.lock_shared l where l.key = $1 for update skip locked;
  return found;
end $$`;

/** SQL query: functions of BullMQ that use advisory locks and do not have the search path yet. */
const ADVISORY_LOCK_USERS = `
select p.oid::regprocedure::text as name from pg_proc p
where p.pronamespace = $1::regnamespace and p.prosrc ~ 'pg_(try_)?advisory' and not coalesce(p.proconfig @> array[$2], false)`;

/** Creates the lock functions. Must run before the migrations of BullMQ, which also use locks. */
async function createLockFunctions(client: PoolClient, schema: string): Promise<void> {
  const last = `${schema}.pg_try_advisory_xact_lock(bigint)`;
  const { rows } = await client.query<{ found: string | null }>('select to_regprocedure($1) as found', [
    last,
  ]);
  if (!rows[0]?.found) await client.query(LOCK_FUNCTIONS(schema));
}

/**
 * Sets the search path of BullMQ's functions, so that these call the lock functions. Must run after each
 * migration of BullMQ, which replaces its functions.
 */
async function useLockFunctions(client: PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(ADVISORY_LOCK_USERS, [schema, searchPath(schema)]);
  for (const { name } of rows)
    await client.query(`alter function ${name} set search_path = ${schema}, pg_catalog`);
}

/** Returns the setting as PostgreSQL stores it with a function. */
const searchPath = (schema: string) => `search_path=${schema}, pg_catalog`;

/**
 * Opens the queue in PostgreSQL, in a separate schema. A BullMQ queue or worker whose first statement fails
 * never recovers. So each queue or worker is returned only after its start.
 * @param onError called when a connection breaks
 * @param signal ends the wait
 * @param telemetry traces jobs
 * @throws InterruptedError as {@link migrate}
 */
export async function postgresBackend(
  url: string,
  onError: OnError,
  signal: AbortSignal,
  telemetry?: Telemetry,
): Promise<QueueBackend> {
  const { Queue, Worker } = withBackend(createFrequentBackend);
  const pool = openQueuePool(url, DEFAULT_SCHEMA, onError);
  try {
    await retryWhileUnavailable(signal, onError, () => migrate(url, pool, onError, signal));
  } catch (error) {
    await pool.end();
    throw error;
  }
  const connection = asBullMq(pool);
  const traces = telemetry ? { telemetry } : {};
  return {
    kind: 'postgres',
    queue: async (name) => {
      const queue = await startWithRetries(
        signal,
        onError,
        () => new Queue<JobData, void, string>(name, { connection, ...traces }),
      );
      // The queue is stored in the database of its recorder, so the queue needs no claim.
      return Object.assign(queue, {
        objection: async () => null,
        claim: async () => {},
        refusal: async () => null,
      });
    },
    worker: async (name, work, options) => {
      const worker = await startWithRetries(
        signal,
        onError,
        () =>
          new Worker<JobData, void, string>(name, work, {
            connection,
            autorun: false,
            ...traces,
            ...STALLED_JOB_OPTIONS,
            runRetryDelay: RETRY_DELAY_MS,
            ...options,
          }),
      );
      worker.run().catch(onError);
      return worker;
    },
    close: () => pool.end(),
  };
}

/**
 * Maximum sleep of a worker, in s. With the default of BullMQ, a worker sleeps for an hour after a lost
 * notification.
 */
const MAX_SLEEP_SECONDS = 5;

const createFrequentBackend: typeof createPostgresBackend = (...args) =>
  Object.defineProperty(createPostgresBackend(...args), 'maximumBlockTimeout', { value: MAX_SLEEP_SECONDS });

/** Casts the pool to the type of BullMQ, which differs from the type of `pg`. */
function asBullMq(pool: Pool): PgPool {
  if (!isPgPool(pool)) throw new Error('this version of BullMQ does not accept a pool of pg');
  return pool;
}

/** Interval of the attempts to lock the creation of the queue, in ms. */
const LOCK_INTERVAL_MS = 200;
/** Number of attempts after which the wait for the lock is reported, and at each multiple. */
const REPORTED_ATTEMPTS = 10;

/**
 * Creates or migrates the tables and functions of the queue, in one process at a time. Each session of the
 * queue is opened under the lock or later: a session whose search path is resolved while another process
 * creates the schema may not find the schema's functions, and would then use the advisory locks of PostgreSQL.
 * @param onError called while another process holds the lock for long, as a stopped process does
 * @throws InterruptedError if the signal aborts while another process holds the lock
 */
async function migrate(url: string, pool: Pool, onError: OnError, signal: AbortSignal): Promise<void> {
  const isDone = () => withRowLock(url, LOCKS.queue, () => migrateAlone(pool));
  for (let attempt = 1; !(await isDone()); attempt++) {
    if (signal.aborted) throw new InterruptedError();
    if (attempt % REPORTED_ATTEMPTS === 0)
      onError(new Error('waiting for another process, which creates the tables of the queue'));
    await delay(LOCK_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

async function migrateAlone(pool: Pool): Promise<true> {
  const client = await pool.connect();
  try {
    await createLockFunctions(client, DEFAULT_SCHEMA);
    await runMigrations(client);
    await useLockFunctions(client, DEFAULT_SCHEMA);
    return true;
  } finally {
    client.release();
  }
}

/**
 * Creates a queue or a worker until its start succeeds. After a failed start, a queue or worker never
 * recovers.
 */
function startWithRetries<
  T extends Pick<Queue, 'waitUntilReady' | 'close'> & { on(event: 'error', onError: OnError): unknown },
>(signal: AbortSignal, onError: OnError, make: () => T): Promise<T> {
  return retryWhileUnavailable(signal, onError, async () => {
    const part = make();
    part.on('error', onError);
    try {
      await part.waitUntilReady();
    } catch (error) {
      await part.close();
      throw error;
    }
    return part;
  });
}

/**
 * Retry interval while the database is unavailable, in ms. The default of BullMQ is 15 s after a refused
 * connection.
 */
const RETRY_DELAY_MS = 500;

/** Retries work while the database is unavailable. */
async function retryWhileUnavailable<T>(
  signal: AbortSignal,
  onError: OnError,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error) || !isDatabaseUnavailable(error) || signal.aborted) throw error;
      onError(error);
      await delay(RETRY_DELAY_MS, undefined, { signal }).catch(() => {});
    }
  }
}
