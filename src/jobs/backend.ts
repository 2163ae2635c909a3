import type { JobSchedulerTemplateOptions, JobsOptions, Queue, Worker, WorkerOptions } from 'bullmq';
import type { JobData } from './jobs.ts';
import type { Unfitness } from './redis-fitness.ts';

/** Where the queue is stored: Redis, or the recorder's PostgreSQL in a schema of its own. Both behave alike. */
export interface QueueBackend {
  readonly kind: 'redis' | 'postgres';
  queue(name: string): Promise<RecorderQueue>;
  worker(name: string, work: Work, options: Pick<WorkerOptions, 'concurrency'>): Promise<RecorderWorker>;
  /** Closes what queues and workers share. Close them first. */
  close(): Promise<void>;
}

/** How often a queue is claimed, ms. */
export const CLAIM_EVERY = 10_000;

/** What the recorder uses of a BullMQ queue, the same on both backends. */
export interface RecorderQueue
  extends Pick<
    Queue<JobData, void, string>,
    'getJobSchedulers' | 'removeJobScheduler' | 'getJobCounts' | 'getJobs' | 'isPaused' | 'close'
  > {
  /** Why no queue may be kept there, and the mend; null: nothing speaks against it. Waits for a Redis that is away. */
  objection(): Promise<Unfitness | null>;
  /** Says that the recorder of this database works in it: to be said every {@link CLAIM_EVERY}. Waits for a Redis that is away. */
  claim(): Promise<void>;
  /** Why nothing can be put into it or taken out of it at present, though it can be read, and the mend; null: it can. */
  refusal(): Promise<string | null>;
  add(name: string, data: JobData, options: JobsOptions): Promise<unknown>;
  addBulk(jobs: { name: string; data: JobData; opts: JobsOptions }[]): Promise<unknown>;
  upsertJobScheduler(
    id: string,
    repeat: { every: number },
    template: { name: string; data: JobData; opts: JobSchedulerTemplateOptions },
  ): Promise<unknown>;
}

/** What the recorder uses of a BullMQ worker. */
export type RecorderWorker = Pick<Worker<JobData, void, string>, 'close'>;

/** What a worker does with a job. */
export type Work = (job: WorkedJob, token: string | undefined) => Promise<void>;

/** A job at work. */
export interface WorkedJob {
  readonly data: unknown;
  updateData(data: JobData): Promise<void>;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

/**
 * With these settings the job of a worker that died goes to another worker in less than 10 s: the job's lock expires, and
 * at the latest the second check after that finds the job without a lock.
 */
export const TAKEOVER = { lockDuration: 4_000, stalledInterval: 1_500, maxStalledCount: 1_000 };

/** Called with every error of a connection; the queue itself goes on. */
export type OnError = (error: Error) => void;
