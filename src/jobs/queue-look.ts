import type { RecorderQueue } from './backend.ts';
import { jobData } from './jobs.ts';

/** What is in a queue now. */
export interface QueueLook {
  /** What is in it, in words. */
  readonly name: string;
  readonly counts: readonly { readonly state: JobState; readonly jobs: number }[];
  /** Some jobs: at work, then those that go next, then those that wait for their time. */
  readonly jobs: readonly QueuedJob[];
}

/** A job in a queue. */
export interface QueuedJob {
  readonly id: string;
  readonly state: JobState;
  /** `plan`, or why a run is made. */
  readonly what: string;
  readonly feed: string;
  /** As key=value; empty: a plan. */
  readonly target: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Why it failed last; null: it did not. */
  readonly failure: string | null;
  /** When it was put in, or began, or will begin. */
  readonly at: Date;
}

const states = ['active', 'waiting', 'prioritized', 'delayed'] as const;
type JobState = (typeof states)[number];

/** Jobs shown of each state. */
const SHOWN = 20;

/** Looks into queues, and changes nothing. Rejects, or never answers, while the queue is away. */
export function lookInto(
  queues: readonly { readonly name: string; readonly queue: RecorderQueue }[],
): Promise<QueueLook[]> {
  return Promise.all(
    queues.map(async ({ name, queue }) => {
      const counts = await queue.getJobCounts(...states);
      const found = await Promise.all(
        states.map(async (state) =>
          // A job that ends meanwhile is not there any more.
          (await queue.getJobs([state], 0, SHOWN - 1, true)).filter(Boolean).map((job): QueuedJob => {
            const { data } = jobData.safeParse(job.data);
            const target = data?.kind === 'record' ? Object.entries(data.target) : [];
            return {
              id: job.id ?? '',
              state,
              what: data?.kind === 'record' ? data.reason : job.name,
              feed: data?.feed ?? '',
              target: target.map((pair) => pair.join('=')).join(' '),
              attempts: job.attemptsMade,
              failure: job.failedReason || null,
              at: new Date(
                state === 'delayed' ? job.timestamp + job.delay : (job.processedOn ?? job.timestamp),
              ),
            };
          }),
        ),
      );
      return {
        name,
        counts: states.map((state) => ({ state, jobs: counts[state] ?? 0 })),
        jobs: found.flat(),
      };
    }),
  );
}
