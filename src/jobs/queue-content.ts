import type { Job } from 'bullmq';
import type { RecorderQueue } from './backend.ts';
import { type JobData, jobData } from './jobs.ts';
import type { Queues } from './workers.ts';

/** Labels of the queues of a recorder. */
export const queueWords = { polls: 'Polls and plans', heals: 'Healing' } as const;
export type QueueName = keyof typeof queueWords;
export const queueKeys = ['polls', 'heals'] as const satisfies readonly QueueName[];

/** States of jobs in a queue, in the order of processing. */
export const jobStates = ['active', 'waiting', 'prioritized', 'delayed'] as const;
export type JobState = (typeof jobStates)[number];

/** Current content of a queue. */
export interface QueueContent {
  readonly queue: QueueName;
  /** True if the queue was paused manually, so that no jobs are processed. */
  readonly paused: boolean;
  /** Reason why the queue accepts no writes, and the fix. Null: the queue accepts writes. */
  readonly refusal: string | null;
  readonly counts: readonly { readonly state: JobState; readonly jobs: number }[];
  /** Some jobs: first the jobs in progress, then the next jobs, then the delayed jobs. */
  readonly jobs: readonly QueuedJob[];
}

/** A job in a queue. */
export interface QueuedJob {
  readonly id: string;
  readonly state: JobState;
  /** `plan`, or the reason of a run. */
  readonly what: string;
  readonly feed: string;
  /** Target as key=value, or the destination of an export. Empty for a plan. */
  readonly target: string;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Maximum number of attempts. */
  readonly most: number;
  /** Error of the last attempt; null if no attempt failed. */
  readonly failure: string | null;
  /**
   * Time of the last start; for a job without an attempt, the time at which the job was added. For a delayed
   * job, the time of the next start.
   */
  readonly at: Date;
}

/** Read access to queues. Calls reject, or never settle, while the queue is unavailable. */
export interface QueuesView {
  /** Returns the content of each queue, with the next jobs. */
  readContents(): Promise<readonly QueueContent[]>;
  /** Returns up to `most` jobs of a queue in a state. Skips the first `after` jobs. */
  jobs(queue: QueueName, state: JobState, after: number, most: number): Promise<readonly QueuedJob[]>;
}

/** Maximum number of jobs per state. */
const MAX_JOBS_PER_STATE = 10;

/** Returns the read access to the queues of a recorder. */
export function createQueuesView(queues: Queues): QueuesView {
  return {
    readContents: () => Promise.all(queueKeys.map((queue) => readQueue(queue, queues[queue]))),
    jobs: (queue, state, after, most) => readJobs(queues[queue], state, after, most),
  };
}

async function readQueue(name: QueueName, queue: RecorderQueue): Promise<QueueContent> {
  const [paused, refusal, counts] = await Promise.all([
    queue.isPaused(),
    queue.refusal(),
    queue.getJobCounts(...jobStates),
  ]);
  const jobs = await Promise.all(jobStates.map((state) => readJobs(queue, state, 0, MAX_JOBS_PER_STATE)));
  return {
    queue: name,
    paused,
    refusal,
    counts: jobStates.map((state) => ({ state, jobs: counts[state] ?? 0 })),
    jobs: jobs.flat(),
  };
}

async function readJobs(
  queue: RecorderQueue,
  state: JobState,
  after: number,
  most: number,
): Promise<QueuedJob[]> {
  const jobs = await queue.getJobs([state], after, after + most - 1, true);
  // A job that ended in the meantime is undefined.
  return jobs.filter(Boolean).map((job) => toQueuedJob(job, state));
}

function toQueuedJob(job: Job<JobData, void, string>, state: JobState): QueuedJob {
  const { data } = jobData.safeParse(job.data);
  const target = data?.kind === 'record' ? Object.entries(data.target) : [];
  const where = data?.kind === 'export' ? data.to : '';
  return {
    id: job.id ?? '',
    state,
    what: data?.kind === 'record' ? data.reason : job.name,
    feed: data && 'feed' in data ? data.feed : '',
    target: target.map((pair) => pair.join('=')).join(' ') || where,
    attempts: job.attemptsMade,
    most: job.opts.attempts ?? 1,
    failure: job.failedReason || null,
    // An attempted job waits since its last attempt, any other job since the job was added.
    at: new Date((job.processedOn ?? job.timestamp) + (state === 'delayed' ? job.delay : 0)),
  };
}
