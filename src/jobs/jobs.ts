import { z } from 'zod';
import type { ActiveFeed } from '../recording/active-feed.ts';
import type { Job } from '../recording/job.ts';
import { targetKey } from '../recording/target-key.ts';

/** Data of a job in the queue: a specification of the work, never a secret and never recorded data. */
export const jobData = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('plan'), feed: z.string() }),
  z.object({
    kind: z.literal('record'),
    feed: z.string(),
    target: z.record(z.string(), z.string()),
    window: z.object({ from: z.number(), to: z.number() }).nullable(),
    reach: z.number().optional(),
    reason: z.enum(['poll', 'heal', 'sweep', 'backfill', 'manual', 'redrive', 'unwatched']),
    datasets: z.array(z.string()).optional(),
    plannedAt: z.number().optional(),
  }),
  z.object({ kind: z.literal('alerts') }),
  z.object({ kind: z.literal('deliver'), channel: z.string() }),
  z.object({ kind: z.literal('exports') }),
  z.object({ kind: z.literal('export'), to: z.string() }),
]);

export type JobData = z.infer<typeof jobData>;
/** A job that belongs to a feed. */
export type FeedJob = Extract<JobData, { feed: string }>;
/** A run of one target. */
export type RecordJob = Extract<JobData, { kind: 'record' }>;
/** An evaluation of the alert rules, or a delivery to one channel. */
export type AlertJob = Extract<JobData, { kind: 'alerts' | 'deliver' }>;
/** A check for due exports, or one export. */
export type ExportJob = Extract<JobData, { kind: 'exports' | 'export' }>;

/**
 * Name of the queue of polls and plans. This queue is separate from the queue of heals, so that heals never
 * delay polls.
 */
export const POLLS = 'polls';

/** Name of the queue of all other runs, and of exports. */
export const HEALS = 'heals';

/** Default name of a recorder. The queues of this recorder have the names from before recorders had names. */
export const DEFAULT_RECORDER = 'recorder';

/** Returns the names of the queues of a recorder. */
export function queueNames(recorder = DEFAULT_RECORDER): { readonly polls: string; readonly heals: string } {
  return recorder === DEFAULT_RECORDER
    ? { polls: POLLS, heals: HEALS }
    : { polls: `${POLLS} ${recorder}`, heals: `${HEALS} ${recorder}` };
}

/** Lowest priority of BullMQ; greater numbers are lower priorities. */
const LOWEST_PRIORITY = 2_000_000;

const REMOVE_WHEN_DONE = { removeOnComplete: true, removeOnFail: true };

/**
 * Retry options of jobs. The intervals are short, so that all targets are fresh within a minute after an outage
 * of any length.
 */
const RETRY_OPTIONS = { attempts: 8, backoff: { type: 'fixed', delay: 20_000, jitter: 0.5 } };

/** Returns a plan job for one feed. At most one job per feed and `occasion` waits. */
export function planJob(feed: string, occasion: string) {
  const data: JobData = { kind: 'plan', feed };
  return {
    name: 'plan',
    data,
    opts: { ...REMOVE_WHEN_DONE, jobId: jobId('plan', feed, occasion), priority: 1 },
  };
}

/**
 * Returns a run job for one target. At most one poll of the same datasets, one heal, and one sweep of each
 * window wait per target. The queue retries failures of minutes. Targets with short intervals have priority,
 * because a delayed reading of a minute is lost, but an hourly list is not.
 */
export function recordJob({ source, every }: ActiveFeed, job: Job) {
  const feed = source.name;
  const { datasets, window, reason, firstPoll, ...rest } = job;
  const data: JobData = {
    kind: 'record',
    feed,
    window,
    reason,
    ...rest,
    ...(datasets && { datasets: [...datasets] }),
  };
  const one = reason === 'sweep' ? String(window?.from) : (datasets?.join(',') ?? 'all');
  return {
    name: 'record',
    data,
    opts: {
      ...REMOVE_WHEN_DONE,
      jobId: jobId('record', reason, feed, targetKey(job.target), one),
      priority:
        firstPoll === undefined ? priorityOfInterval(every) : priorityOfFirstPoll(source, every, firstPoll),
      ...RETRY_OPTIONS,
      // One job heals several holes in sequence. Each run is a separate trace, so that no trace grows without
      // limit.
      ...(reason !== 'poll' && { telemetry: { omitContext: true } }),
    },
  };
}

const priorityOfInterval = (every: number) =>
  Math.min(Math.max(Math.round(every / 1000), 2), LOWEST_PRIORITY);

/**
 * Priority of the first poll of a feed that fetches past ranges, and the difference in priority between
 * consecutive targets.
 */
const FIRST_WALK = { priority: 12, step: 10 };
/** Difference in priority between the first polls of consecutive targets of a feed. */
const FIRST_POLL_STEP = 3;

/**
 * Returns the priority of the first poll of a target. Polls of few calls precede polls that fetch a past
 * range. The first target of each feed precedes most others, so that every dataset soon has rows.
 * @param place position of the target among the first polls of the feed, from 0
 */
function priorityOfFirstPoll({ range, calls }: ActiveFeed['source'], every: number, place: number): number {
  if (range) return Math.min(FIRST_WALK.priority + FIRST_WALK.step * place, LOWEST_PRIORITY);
  return Math.min(Math.max(calls, 2) + FIRST_POLL_STEP * place, priorityOfInterval(every));
}

/** Name of the schedule and of the jobs that evaluate the alert rules. */
export const ALERTS = 'alerts';

/** Returns a job that evaluates the alert rules. */
export function alertsJob() {
  const data: JobData = { kind: 'alerts' };
  return { name: ALERTS, data };
}

/** Returns a delivery job for a channel. At most one job per channel waits. */
export function deliverJob(channel: string) {
  const data: JobData = { kind: 'deliver', channel };
  return {
    name: 'deliver',
    data,
    opts: { ...REMOVE_WHEN_DONE, jobId: jobId('deliver', channel), priority: 1 },
  };
}

/** Name of the schedule and of the jobs that check for due exports. */
export const EXPORTS = 'exports';

/** Returns a job that checks for due exports. */
export function exportsJob() {
  const data: JobData = { kind: 'exports' };
  return { name: EXPORTS, data };
}

/**
 * Returns an export job. At most one job per destination waits. The queue does not retry the job, because a
 * failed export is due again later.
 */
export function exportJob(to: string) {
  const data: JobData = { kind: 'export', to };
  return { name: 'export', data, opts: { ...REMOVE_WHEN_DONE, jobId: jobId('export', to), priority: 1 } };
}

/** Returns a job id without colons, at which BullMQ splits its keys. */
function jobId(...parts: readonly string[]): string {
  return parts.join(' ').replaceAll(':', '.');
}
