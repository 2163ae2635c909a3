import { setTimeout as delay } from 'node:timers/promises';
import type { PgPool, Queue, Telemetry } from 'bullmq';
import type { Pool } from 'pg';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { openQueuePool } from '../db/queue-pool.ts';
import { type OnError, type QueueBackend, STALLED_JOB_OPTIONS } from './backend.ts';
import { createPostgresBackend, DEFAULT_SCHEMA, isPgPool, runMigrations, withBackend } from './bullmq.ts';
import type { JobData } from './jobs.ts';
import { createLockFunctions, useLockFunctions } from './queue-locks.ts';

/**
 * Opens the queue in PostgreSQL, in a separate schema. A BullMQ queue or worker whose first statement fails
 * never recovers. So each is returned only after its start.
 * @param onError called when a connection breaks
 * @param signal ends the wait
 * @param telemetry traces jobs
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
    await retryWhileUnavailable(signal, onError, () => migrate(pool));
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
      // The queue is in the database that it belongs to, so that it needs no claim.
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

/** Maximum sleep of a worker, in seconds. The default of BullMQ is an hour, if a notification is lost. */
const MAX_SLEEP_SECONDS = 5;

const createFrequentBackend: typeof createPostgresBackend = (...args) =>
  Object.defineProperty(createPostgresBackend(...args), 'maximumBlockTimeout', { value: MAX_SLEEP_SECONDS });

/** Casts the pool to the type of BullMQ, which differs from that of `pg`. */
function asBullMq(pool: Pool): PgPool {
  if (!isPgPool(pool)) throw new Error('BullMQ does not take a pool of pg any more');
  return pool;
}

async function migrate(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await createLockFunctions(client, DEFAULT_SCHEMA);
    await runMigrations(client);
    await useLockFunctions(client, DEFAULT_SCHEMA);
  } finally {
    client.release();
  }
}

/**
 * Creates a queue or a worker repeatedly until one has started, because one that failed to start never
 * recovers.
 */
function startWithRetries<
  T extends Pick<Queue, 'waitUntilReady' | 'close'> & { on(event: 'error', tell: OnError): unknown },
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
  tell: OnError,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error) || !isDatabaseUnavailable(error) || signal.aborted) throw error;
      tell(error);
      await delay(RETRY_DELAY_MS, undefined, { signal }).catch(() => {});
    }
  }
}
