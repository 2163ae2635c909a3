import type { Logger as Log } from 'pino';
import { LOCKS, withRowLock } from '../db/row-lock.ts';
import type { ActiveFeed } from '../recording/active-feed.ts';
import type { RecorderQueue } from './backend.ts';
import { type JobData, POLLS, planJob, queueNames } from './jobs.ts';
import type { Queues } from './workers.ts';

/** Returns the lock of the reconciler of one recorder, so that recorders do not wait for each other. */
function schedulesLock(recorder: string | undefined): string {
  const { polls } = queueNames(recorder);
  return polls === POLLS ? LOCKS.schedules : `${LOCKS.schedules} of ${polls}`;
}
/**
 * Maximum delay of the next tick of a schedule, in ms. After a longer delay, the schedule counts as stopped.
 */
const MAX_TICK_DELAY_MS = 60_000;
/** Maximum number of delayed jobs that one round checks, starting with the latest due time. */
const MAX_DELAYED_JOBS = 200;

/**
 * Options of the jobs of a schedule. The trace context is omitted, so that each tick starts a new trace. With
 * the context, the trace of the first tick would never end.
 */
const TICK = { removeOnComplete: true, removeOnFail: true, priority: 1, telemetry: { omitContext: true } };

/** Returns the id of the schedule of a feed. */
const scheduleId = (feed: ActiveFeed) => `plan ${feed.source.name}`;

/** A repeated job. */
export interface Schedule {
  readonly id: string;
  /** Interval between two ticks, in ms. */
  readonly every: number;
  readonly job: { readonly name: string; readonly data: JobData };
}

/** A configured schedule, as it was found in the queue. */
export interface ScheduleState {
  readonly schedule: string;
  /** Interval between two ticks, in ms. */
  readonly every: number;
  /** Time of the next tick, in ms since 1970. Null: the queue did not have the schedule. */
  readonly next: number | null;
}

/** Result of a reconciliation. */
export interface ReconcileResult {
  /** States of the configured schedules; null if another process holds the lock of the schedules. */
  readonly states: readonly ScheduleState[] | null;
  readonly set: readonly string[];
  readonly removed: readonly string[];
  /** Number of delayed jobs that were removed because the clock that set their time was ahead. */
  readonly freed: number;
}

/**
 * Reconciles the schedules of the queue with the configuration. Missing schedules are added, and schedules
 * that are not configured are removed. Stopped schedules (the clock jumped, or the job of the next tick was
 * removed) are removed and added again, because an upsert does not repair these schedules. Jobs that were
 * delayed by a clock that was ahead are removed, because their work is planned again. Only one process of a
 * recorder runs this function at a time.
 */
export async function reconcileSchedules(
  databaseUrl: string,
  queues: Queues,
  feeds: readonly ActiveFeed[],
  log: Log,
  recorder?: string,
  others: readonly Schedule[] = [],
): Promise<ReconcileResult> {
  const reconciled = await withRowLock(databaseUrl, schedulesLock(recorder), async () => {
    const { polls, heals } = queues;
    const present = await polls.getJobSchedulers();
    // The jobs are read after the schedules, so that the next tick of each schedule is included.
    const delayed = await delayedIn(polls);
    const freed = (await freeDelayed(delayed)) + (await freeDelayed(await delayedIn(heals)));
    return { ...(await reconcile(polls, present, delayed, [...listFeedSchedules(feeds), ...others])), freed };
  });
  const { states, ...changed } = reconciled ?? { states: null, set: [], removed: [], freed: 0 };
  if (changed.set.length + changed.removed.length + changed.freed > 0)
    log.info(changed, 'updated the schedules');
  return { states, ...changed };
}

const delayedIn = (queue: RecorderQueue) => queue.getJobs(['delayed'], 0, MAX_DELAYED_JOBS - 1, false);
type Delayed = Awaited<ReturnType<typeof delayedIn>>;
type Present = Awaited<ReturnType<RecorderQueue['getJobSchedulers']>>;

/**
 * Removes jobs that would wait for hours because the clock was ahead in the process that added or attempted
 * these jobs.
 */
async function freeDelayed(delayed: Delayed): Promise<number> {
  const latest = Date.now() + MAX_TICK_DELAY_MS;
  const ahead = delayed.filter(
    (job) => !job.repeatJobKey && Math.max(job.timestamp, job.processedOn ?? 0) > latest,
  );
  for (const job of ahead) await job.remove();
  return ahead.length;
}

const listFeedSchedules = (feeds: readonly ActiveFeed[]): Schedule[] =>
  feeds
    .filter(({ targets }) => targets.length > 0)
    .map((feed) => ({ id: scheduleId(feed), every: feed.every, job: planJob(feed.source.name, 'tick') }));

async function reconcile(
  queue: RecorderQueue,
  present: Present,
  delayed: Delayed,
  schedules: readonly Schedule[],
) {
  const configured = new Map(schedules.map((schedule) => [schedule.id, schedule]));
  const now = Date.now();
  const waiting = new Set(delayed.map((job) => job.repeatJobKey));
  const isLost = (key: string, next: number) =>
    next > now + MAX_TICK_DELAY_MS && delayed.length < MAX_DELAYED_JOBS && !waiting.has(key);
  const set: string[] = [];
  const removed: string[] = [];
  const right = new Set<string>();
  for (const { key, every, next, template } of present) {
    const schedule = configured.get(key);
    const frozen =
      next !== undefined &&
      (next < now - MAX_TICK_DELAY_MS || next > now + Number(every) + MAX_TICK_DELAY_MS || isLost(key, next));
    const beginsTraces = template?.opts?.telemetry?.omitContext === true;
    if (schedule && Number(every) === schedule.every && beginsTraces && !frozen) {
      right.add(key);
      continue;
    }
    await queue.removeJobScheduler(key);
    removed.push(key);
  }
  for (const [id, { every, job }] of configured) {
    if (right.has(id)) continue;
    const { name, data } = job;
    await queue.upsertJobScheduler(id, { every }, { name, data, opts: TICK });
    set.push(id);
  }
  const states = [...configured].map(([schedule, { every }]) => ({
    schedule,
    every,
    next: present.find(({ key }) => key === schedule)?.next ?? null,
  }));
  return { states, set, removed };
}
