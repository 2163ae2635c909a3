import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../app/app.ts';
import { databaseIdentity } from '../db/identity.ts';
import type { QueueBackend, RecorderQueue } from '../jobs/backend.ts';
import { queueNames } from '../jobs/jobs.ts';
import { openBackend } from '../jobs/open-backend.ts';
import type { Queues } from '../jobs/workers.ts';
import { UsageError } from '../lib/errors.ts';
import { withTimeout } from '../lib/with-timeout.ts';

/** Timeout of the check of Redis, in ms. */
const REDIS_CHECK_TIMEOUT_MS = 5_000;
/** Timeout for closing the queues, in ms. */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Opens the queues of a recorder, runs the work, and closes them.
 * @throws UsageError as {@link rejectUnfitRedis}, and errors of the work
 */
export async function withQueues(
  { log, config, environment, database, databaseUrl, traced }: App,
  signal: AbortSignal,
  work: (backend: QueueBackend, queues: Queues) => Promise<void>,
): Promise<void> {
  const backend = await openBackend(
    { redisUrl: environment.redisUrl, databaseUrl, identity: () => databaseIdentity(database.sql) },
    log,
    signal,
    traced !== null,
  );
  const opened: RecorderQueue[] = [];
  const open = async (name: string) => {
    const queue = await backend.queue(name);
    opened.push(queue);
    return queue;
  };
  try {
    const names = queueNames(config.name);
    const queues = { polls: await open(names.polls), heals: await open(names.heals) };
    await rejectUnfitRedis(queues.polls);
    await work(backend, queues);
  } finally {
    // Also after a rejection: an open connection would keep the process alive.
    const closed = Promise.allSettled(opened.map((queue) => queue.close())).then(() => backend.close());
    await withTimeout(CLOSE_TIMEOUT_MS, closed);
  }
}

/**
 * Rejects a Redis that would lose schedules and jobs, store them elsewhere, or give them to another recorder.
 * An unavailable Redis is not waited for: `doctor`, or the next start, checks it.
 * @throws UsageError if the Redis is unfit
 */
async function rejectUnfitRedis(queue: RecorderQueue): Promise<void> {
  const objection = await Promise.race([
    queue.objection(),
    delay(REDIS_CHECK_TIMEOUT_MS, null, { ref: false }),
  ]);
  if (objection === null) return;
  const { found, fix } = objection;
  throw new UsageError([`REDIS_URL: this Redis is not fit for the queue: ${found}: ${fix}`]);
}
