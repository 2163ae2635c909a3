import {
  createPostgresBackend,
  type JobSchedulerTemplateOptions,
  type JobsOptions,
  Queue,
  Worker,
  type WorkerOptions,
  withBackend,
} from 'bullmq';
import { Redis } from 'ioredis';
import type { Logger as Log } from 'pino';
import { GuardedClient } from '../db/guarded-client.ts';
import { messageOf } from '../errors.ts';
import type { JobData } from './jobs.ts';

/** Where the queue lives: Redis, or the same PostgreSQL in a schema of its own. Both behave alike. */
export interface QueueBackend {
  readonly kind: 'redis' | 'postgres';
  queue(name: string): RecorderQueue;
  worker(name: string, work: Work, options: Pick<WorkerOptions, 'concurrency'>): RecorderWorker;
}

/** What the recorder uses of a BullMQ queue, the same on both backends. */
export interface RecorderQueue
  extends Pick<
    Queue<JobData, void, string>,
    'getJobSchedulers' | 'removeJobScheduler' | 'getJobCounts' | 'close' | 'waitUntilReady'
  > {
  /** Redis's `maxmemory-policy`; null where the queue is not in Redis. */
  evictionPolicy(): Promise<string | null>;
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

/** A worker that dies is noticed within these: its job goes to another one in less than 10 s. */
const TAKEOVER = { lockDuration: 5_000, stalledInterval: 2_500, maxStalledCount: 1_000 };
const PREFIX = 'chain-recorder';

/** Opens the queue's backend. @param urls a Redis URL, or undefined for the queue in PostgreSQL */
export function openBackend(
  urls: { redisUrl: string | undefined; databaseUrl: string },
  log: Log,
): QueueBackend {
  const quiet = boundedErrors(log);
  return urls.redisUrl ? redisBackend(urls.redisUrl, quiet) : postgresBackend(urls.databaseUrl, quiet);
}

type OnError = (error: Error) => void;

function redisBackend(url: string, onError: OnError): QueueBackend {
  const connect = () => {
    const redis = new Redis(url, {
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(times * 200, 2_000),
    });
    redis.on('error', onError);
    return redis;
  };
  return {
    kind: 'redis',
    queue: (name) => {
      const connection = connect();
      const queue = new Queue<JobData, void, string>(name, { connection, prefix: PREFIX });
      queue.on('error', onError);
      const evictionPolicy = async () =>
        /maxmemory_policy:(\S+)/.exec(await connection.info('memory'))?.[1] ?? null;
      return Object.assign(
        closing(queue, () => connection.disconnect()),
        { evictionPolicy },
      );
    },
    worker: (name, work, options) => {
      const connection = connect();
      const worker = new Worker<JobData, void, string>(name, work, {
        connection,
        prefix: PREFIX,
        ...TAKEOVER,
        ...options,
      });
      worker.on('error', onError);
      return closing(worker, () => connection.disconnect());
    },
  };
}

function postgresBackend(connectionString: string, onError: OnError): QueueBackend {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  const connection = {
    connectionString,
    schema: 'bullmq',
    migrate: true,
    max: 4,
    application_name: 'chain-recorder queue',
    Client: GuardedClient,
    // A connection that went silent would be waited for without end.
    query_timeout: 20_000,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  };
  return {
    kind: 'postgres',
    queue: (name) => {
      const queue = new Queue<JobData, void, string>(name, { connection });
      queue.on('error', onError);
      return Object.assign(queue, { evictionPolicy: async () => null });
    },
    worker: (name, work, options) => {
      const worker = new Worker<JobData, void, string>(name, work, { connection, ...TAKEOVER, ...options });
      worker.on('error', onError);
      return worker;
    },
  };
}

/** Lets a connection that was handed in be closed together with what uses it. */
function closing<T extends { close(force?: boolean): Promise<void> }>(part: T, after: () => void): T {
  const close = part.close.bind(part);
  part.close = async (force) => {
    await close(force);
    after();
  };
  return part;
}

const QUIET_FOR = 30_000;

/** Logs each cause at most every 30 s: one outage can make tens of thousands of error events. */
function boundedErrors(log: Log): OnError {
  const saidAt = new Map<string, number>();
  return (error) => {
    const cause = messageOf(error).slice(0, 120);
    const now = Date.now();
    if (now - (saidAt.get(cause) ?? 0) < QUIET_FOR) return;
    if (saidAt.size > 100) saidAt.clear();
    saidAt.set(cause, now);
    log.warn({ cause }, 'the queue had an error');
  };
}
