import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import type { ActiveFeed } from '../recording/feed.ts';
import type { RecorderQueue } from './backend.ts';
import { planJob } from './jobs.ts';

/** One reconciler at a time among all processes; the number is this project's own. */
const LOCK = 7_310_202_612;
/** A schedule whose next tick is this much in the past does not tick any more. */
const FROZEN_AFTER = 60_000;

/** The id of a feed's schedule. */
const scheduleId = (feed: ActiveFeed) => `plan ${feed.source.name}`;

/**
 * Holds the queue's schedules against the configuration: missing ones are set, others removed, frozen ones (the clock
 * jumped) removed and set again, since setting alone does not mend them. Alone among all processes.
 * @returns what was changed
 */
export async function reconcileSchedules(
  sql: postgres.Sql,
  queue: RecorderQueue,
  feeds: readonly ActiveFeed[],
  log: Log,
): Promise<{ set: string[]; removed: string[] }> {
  const connection = await sql.reserve();
  try {
    const [lock] = await connection<{ mine: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as mine`;
    if (!lock?.mine) return { set: [], removed: [] };
    try {
      return await reconcile(queue, feeds, log);
    } finally {
      await connection`select pg_advisory_unlock(${LOCK})`;
    }
  } finally {
    connection.release();
  }
}

async function reconcile(queue: RecorderQueue, feeds: readonly ActiveFeed[], log: Log) {
  const wanted = new Map(
    feeds.filter(({ targets }) => targets.length > 0).map((feed) => [scheduleId(feed), feed]),
  );
  const present = await queue.getJobSchedulers();
  const now = Date.now();
  const set: string[] = [];
  const removed: string[] = [];
  const right = new Set<string>();
  for (const { key, every, next } of present) {
    const feed = wanted.get(key);
    const frozen =
      next !== undefined && (next < now - FROZEN_AFTER || next > now + Number(every) + FROZEN_AFTER);
    if (feed && Number(every) === feed.every && !frozen) {
      right.add(key);
      continue;
    }
    await queue.removeJobScheduler(key);
    removed.push(key);
  }
  for (const [id, feed] of wanted) {
    if (right.has(id)) continue;
    const { name, data } = planJob(feed.source.name, 'tick');
    await queue.upsertJobScheduler(
      id,
      { every: feed.every },
      { name, data, opts: { removeOnComplete: true, removeOnFail: true, priority: 1 } },
    );
    set.push(id);
  }
  if (set.length > 0 || removed.length > 0) log.info({ set, removed }, 'schedules were brought in line');
  return { set, removed };
}
