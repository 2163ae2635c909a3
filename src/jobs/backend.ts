import type { JobSchedulerTemplateOptions, JobsOptions, Queue, Worker, WorkerOptions } from 'bullmq';
import type { JobData } from './jobs.ts';
import type { RedisProblem } from './redis-fitness.ts';

/**
 * Storage of the queue: Redis, or a separate schema of the PostgreSQL database of the recorder. Both backends
 * behave the same.
 */
export interface QueueBackend {
  readonly kind: 'redis' | 'postgres';
  queue(name: string): Promise<RecorderQueue>;
  worker(
    name: string,
    work: JobProcessor,
    options: Pick<WorkerOptions, 'concurrency'>,
  ): Promise<RecorderWorker>;
  /** Closes the shared resources of queues and workers. The queues and workers must be closed before. */
  close(): Promise<void>;
}

/** Interval between two claims of a queue, in ms. */
export const CLAIM_INTERVAL_MS = 10_000;

/** The members of a BullMQ queue that the recorder uses, the same on both backends. */
export interface RecorderQueue
  extends Pick<
    Queue<JobData, void, string>,
    'getJobSchedulers' | 'removeJobScheduler' | 'getJobCounts' | 'getJobs' | 'isPaused' | 'close'
  > {
  /**
   * Returns why the queue must not be stored in this backend, and the fix. Returns null if there is no reason.
   * Waits for an unavailable Redis.
   */
  objection(): Promise<RedisProblem | null>;
  /**
   * Claims the queue for the database of this recorder. Must be called every {@link CLAIM_INTERVAL_MS} ms. Waits
   * for an unavailable Redis.
   */
  claim(): Promise<void>;
  /**
   * Returns why the queue currently accepts no writes, and the fix. Returns null if the queue accepts writes.
   */
  refusal(): Promise<string | null>;
  add(name: string, data: JobData, options: JobsOptions): Promise<unknown>;
  addBulk(jobs: { name: string; data: JobData; opts: JobsOptions }[]): Promise<unknown>;
  upsertJobScheduler(
    id: string,
    repeat: { every: number },
    template: { name: string; data: JobData; opts: JobSchedulerTemplateOptions },
  ): Promise<unknown>;
}

/** The members of a BullMQ worker that the recorder uses. */
export type RecorderWorker = Pick<Worker<JobData, void, string>, 'close'>;

/** A function that processes a job. */
export type JobProcessor = (job: ActiveJob, token: string | undefined) => Promise<void>;

/** A job in progress. */
export interface ActiveJob {
  readonly data: unknown;
  updateData(data: JobData): Promise<void>;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

/**
 * Settings with which the job of a killed worker is processed by another worker in less than 10 s. The lock
 * of the job expires, and at the latest the second check after the expiry detects the job.
 */
export const STALLED_JOB_OPTIONS = { lockDuration: 4_000, stalledInterval: 1_500, maxStalledCount: 1_000 };

/** Callback for every connection error. The queue recovers by itself. */
export type OnError = (error: Error) => void;
