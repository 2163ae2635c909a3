import { z } from 'zod';
import type { ActiveFeed } from '../recording/active-feed.ts';
import type { Job } from '../recording/job.ts';
import { targetKey } from '../recording/target-key.ts';

/** What a job in the queue contains: what to ask for. Never a secret, never recorded data. */
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
/** A job about what is recorded, by its feed. */
export type FeedJob = Extract<JobData, { feed: string }>;
/** A run of one target. */
export type RecordJob = Extract<JobData, { kind: 'record' }>;
/** A round of the rules of alerts, or what waits for one channel. */
export type AlertJob = Extract<JobData, { kind: 'alerts' | 'deliver' }>;
/** A look at which exports are due, or one of them. */
export type ExportJob = Extract<JobData, { kind: 'exports' | 'export' }>;

/** Polls and plans have a queue of their own, so that no amount of healing makes them wait. */
export const POLLS = 'polls';
export const HEALS = 'heals';

/** The default name of a recorder. Its queues keep the names that they had before recorders had names. */
export const UNNAMED = 'recorder';

/** The names of a recorder's queues. */
export function queueNames(recorder = UNNAMED): { readonly polls: string; readonly heals: string } {
  return recorder === UNNAMED
    ? { polls: POLLS, heals: HEALS }
    : { polls: `${POLLS} ${recorder}`, heals: `${HEALS} ${recorder}` };
}

/** BullMQ's, as a number. */
const LOWEST_PRIORITY = 2_000_000;

const gone = { removeOnComplete: true, removeOnFail: true };

/** Retries in short steps, so that everything is fresh within a minute after an outage of any length. */
const retried = { attempts: 8, backoff: { type: 'fixed', delay: 20_000, jitter: 0.5 } };

/** A plan of one feed. `occasion` tells plans apart: one of each waits at most. */
export function planJob(feed: string, occasion: string) {
  const data: JobData = { kind: 'plan', feed };
  return { name: 'plan', data, opts: { ...gone, jobId: jobId('plan', feed, occasion), priority: 1 } };
}

/**
 * A run of one target: one poll of the same datasets, one heal, and one sweep of each window wait at most. Faults of minutes
 * are retried by the queue. What is polled often goes first: a minute's reading that waits is lost, an hour's list is not.
 */
export function recordJob({ source, every }: ActiveFeed, job: Job) {
  const feed = source.name;
  const { datasets, window, reason, ...rest } = job;
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
      ...gone,
      jobId: jobId('record', reason, feed, targetKey(job.target), one),
      priority: Math.min(Math.max(Math.round(every / 1000), 2), LOWEST_PRIORITY),
      ...retried,
      // Holes are healed one after another by one job: each run is a trace of its own, so that none grows without end.
      ...(reason !== 'poll' && { telemetry: { omitContext: true } }),
    },
  };
}

/** The name of the schedule, and of the jobs, by which the rules of alerts are asked. */
export const ALERTS = 'alerts';

/** A round of the rules of alerts. */
export function alertsJob() {
  const data: JobData = { kind: 'alerts' };
  return { name: ALERTS, data };
}

/** What waits for a channel is sent. One of each waits at most. */
export function deliverJob(channel: string) {
  const data: JobData = { kind: 'deliver', channel };
  return { name: 'deliver', data, opts: { ...gone, jobId: jobId('deliver', channel), priority: 1 } };
}

/** The name of the schedule, and of the jobs, by which it is looked which exports are due. */
export const EXPORTS = 'exports';

/** A look at which exports are due. */
export function exportsJob() {
  const data: JobData = { kind: 'exports' };
  return { name: EXPORTS, data };
}

/** An export. One of each waits at most. What fails is due again later: the queue repeats none. */
export function exportJob(to: string) {
  const data: JobData = { kind: 'export', to };
  return { name: 'export', data, opts: { ...gone, jobId: jobId('export', to), priority: 1 } };
}

/** BullMQ splits its keys at colons. */
function jobId(...parts: readonly string[]): string {
  return parts.join(' ').replaceAll(':', '.');
}
