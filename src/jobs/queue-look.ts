import type { Job } from 'bullmq';
import type { RecorderQueue } from './backend.ts';
import { type JobData, jobData } from './jobs.ts';
import type { Queues } from './workers.ts';

/** The queues of a recorder, and what is in them in words. */
export const queueWords = { polls: 'Polls and plans', heals: 'Healing' } as const;
export type QueueName = keyof typeof queueWords;
export const queueKeys = ['polls', 'heals'] as const satisfies readonly QueueName[];

/** What jobs in a queue do, in the order in which they are taken. */
export const jobStates = ['active', 'waiting', 'prioritized', 'delayed'] as const;
export type JobState = (typeof jobStates)[number];

/** What is in a queue now. */
export interface QueueLook {
  readonly queue: QueueName;
  /** Somebody paused it: nothing is taken out of it. */
  readonly paused: boolean;
  /** Why nothing can be put into it or taken out of it, and the mend; null: it can. */
  readonly refusal: string | null;
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
  /** As key=value, or where an export goes; empty: a plan. */
  readonly target: string;
  /** How often it was tried, and how often it is tried at most. */
  readonly attempts: number;
  readonly most: number;
  /** Why it failed last; null: it did not. */
  readonly failure: string | null;
  /** When it was put in, or began, or will begin. */
  readonly at: Date;
}

/** How readers look into queues. Each call rejects, or never answers, while the queue is away. Nothing is changed. */
export interface QueuesView {
  /** What is in each queue, with the jobs that go first. */
  look(): Promise<readonly QueueLook[]>;
  /** The jobs of a queue in a state: so many, after so many. */
  jobs(queue: QueueName, state: JobState, after: number, most: number): Promise<readonly QueuedJob[]>;
}

/** Jobs that are shown of each state. */
const SHOWN = 10;

/** The view of a recorder's queues. */
export function viewOf(queues: Queues): QueuesView {
  return {
    look: () => Promise.all(queueKeys.map((queue) => lookInto(queue, queues[queue]))),
    jobs: (queue, state, after, most) => jobsIn(queues[queue], state, after, most),
  };
}

async function lookInto(name: QueueName, queue: RecorderQueue): Promise<QueueLook> {
  const [paused, refusal, counts] = await Promise.all([
    queue.isPaused(),
    queue.refusal(),
    queue.getJobCounts(...jobStates),
  ]);
  const jobs = await Promise.all(jobStates.map((state) => jobsIn(queue, state, 0, SHOWN)));
  return {
    queue: name,
    paused,
    refusal,
    counts: jobStates.map((state) => ({ state, jobs: counts[state] ?? 0 })),
    jobs: jobs.flat(),
  };
}

async function jobsIn(
  queue: RecorderQueue,
  state: JobState,
  after: number,
  most: number,
): Promise<QueuedJob[]> {
  const jobs = await queue.getJobs([state], after, after + most - 1, true);
  // A job that ends meanwhile is not there any more.
  return jobs.filter(Boolean).map((job) => queued(job, state));
}

function queued(job: Job<JobData, void, string>, state: JobState): QueuedJob {
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
    // A job that was tried waits since then, others since they were put in.
    at: new Date((job.processedOn ?? job.timestamp) + (state === 'delayed' ? job.delay : 0)),
  };
}
