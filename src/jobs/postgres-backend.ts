import { setTimeout as delay } from 'node:timers/promises';
import type { PgPool, Queue, Telemetry } from 'bullmq';
import type { Pool } from 'pg';
import { isAway } from '../db/connection-error.ts';
import { openQueuePool } from '../db/queue-pool.ts';
import { type OnError, type QueueBackend, TAKEOVER } from './backend.ts';
import { createPostgresBackend, DEFAULT_SCHEMA, isPgPool, runMigrations, withBackend } from './bullmq.ts';
import type { JobData } from './jobs.ts';
import { createLockFunctions, useLockFunctions } from './queue-locks.ts';

/**
 * The queue in PostgreSQL, in a schema of its own. A BullMQ queue or worker whose first statement failed never works
 * again, so each is returned only once it has started.
 * @param onError called when a connection breaks @param signal ends the waiting @param telemetry notes jobs in traces
 */
export async function postgresBackend(
  url: string,
  onError: OnError,
  signal: AbortSignal,
  telemetry?: Telemetry,
): Promise<QueueBackend> {
  const { Queue, Worker } = withBackend(lookingOften);
  const pool = openQueuePool(url, DEFAULT_SCHEMA, onError);
  try {
    await patiently(signal, onError, () => migrate(pool));
  } catch (error) {
    await pool.end();
    throw error;
  }
  const connection = asBullMq(pool);
  const traces = telemetry ? { telemetry } : {};
  return {
    kind: 'postgres',
    queue: async (name) => {
      const queue = await ready(
        signal,
        onError,
        () => new Queue<JobData, void, string>(name, { connection, ...traces }),
      );
      // It is in the database that it is of.
      return Object.assign(queue, {
        objection: async () => null,
        claim: async () => {},
        refusal: async () => null,
      });
    },
    worker: async (name, work, options) => {
      const worker = await ready(
        signal,
        onError,
        () =>
          new Worker<JobData, void, string>(name, work, {
            connection,
            autorun: false,
            ...traces,
            ...TAKEOVER,
            runRetryDelay: TRY_AGAIN,
            ...options,
          }),
      );
      worker.run().catch(onError);
      return worker;
    },
    close: () => pool.end(),
  };
}

/** The longest sleep of a worker, in seconds: BullMQ's worker sleeps an hour when its notification was lost. */
const LONGEST_SLEEP = 5;

const lookingOften: typeof createPostgresBackend = (...args) =>
  Object.defineProperty(createPostgresBackend(...args), 'maximumBlockTimeout', { value: LONGEST_SLEEP });

/** The pool in the types of BullMQ, which describe it otherwise than those of `pg`. */
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

/** Makes a queue or a worker again and again until one has started: one that failed to start never will. */
function ready<
  T extends Pick<Queue, 'waitUntilReady' | 'close'> & { on(event: 'error', tell: OnError): unknown },
>(signal: AbortSignal, onError: OnError, make: () => T): Promise<T> {
  return patiently(signal, onError, async () => {
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

/** A pause before the database is asked again, ms. BullMQ's worker would fetch nothing for 15 s after a refused connection. */
const TRY_AGAIN = 500;

/** Repeats work while the database cannot be reached. */
async function patiently<T>(signal: AbortSignal, tell: OnError, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error) || !isAway(error) || signal.aborted) throw error;
      tell(error);
      await delay(TRY_AGAIN, undefined, { signal }).catch(() => {});
    }
  }
}
