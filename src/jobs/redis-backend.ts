import type { Telemetry } from 'bullmq';
import { parseRedisUrl } from '../config/redis-url.ts';
import { type OnError, type QueueBackend, STALLED_JOB_OPTIONS } from './backend.ts';
import { Queue, Worker } from './bullmq.ts';
import type { JobData } from './jobs.ts';
import { redisClient } from './redis-client.ts';
import { findRedisProblem, type RedisProblem, testWrite } from './redis-fitness.ts';
import { type DatabaseIdentity, QueueOwner } from './redis-owner.ts';

/**
 * Opens the queue in Redis, which may be unavailable at any time.
 * @param url URL in a format of {@link parseRedisUrl}
 * @param onError called when a connection breaks
 * @param identity returns the identity of the database of the recorder
 * @param telemetry traces jobs
 */
export function redisBackend(
  url: string,
  onError: OnError,
  identity: DatabaseIdentity,
  telemetry?: Telemetry,
): QueueBackend {
  const place = parseRedisUrl(url);
  // In a cluster, all keys of a queue must be in the same hash slot, which the text in braces determines.
  const prefix = place.kind === 'cluster' ? '{chain-recorder}' : 'chain-recorder';
  const traces = telemetry ? { telemetry } : {};
  const connect = () => {
    const redis = redisClient(place, {
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(times * 200, 2_000),
    });
    redis.on('error', onError);
    return redis;
  };
  return {
    kind: 'redis',
    queue: async (name) => {
      const connection = connect();
      const queue = new Queue<JobData, void, string>(name, { connection, prefix, ...traces });
      queue.on('error', onError);
      const owner = new QueueOwner(connection, `${prefix}:owner:${name}`, place.kind, identity);
      const close = async () => {
        await owner.release();
        connection.disconnect();
      };
      return Object.assign(closeWith(queue, close), {
        objection: async () => (await findRedisProblem(connection)) ?? owner.objection(),
        claim: () => owner.claim(),
        refusal: async () => {
          const refusal = await testWrite(connection, `${prefix}:writable`);
          if (refusal) return `Redis rejects writes: ${describeProblem(refusal)}`;
          return owner.problem && describeProblem(owner.problem);
        },
      });
    },
    worker: async (name, work, options) => {
      const connection = connect();
      const atWork = new Set<Promise<void>>();
      const worker = new Worker<JobData, void, string>(
        name,
        async (job, token) => {
          const working = work(job, token);
          atWork.add(working);
          await working.finally(() => atWork.delete(working));
        },
        { connection, prefix, ...traces, ...STALLED_JOB_OPTIONS, ...options },
      );
      worker.on('error', onError);
      const close = worker.close.bind(worker);
      worker.close = async (force) => {
        await worker.pause(true);
        await Promise.allSettled(atWork);
        // Without force, BullMQ 6.7 waits for Redis. If Redis stays unavailable, the timers of BullMQ keep
        // the process alive forever.
        await close(force || connection.status !== 'ready');
        connection.disconnect();
      };
      return worker;
    },
    close: async () => {},
  };
}

const describeProblem = ({ found, fix }: RedisProblem): string => `${found}: ${fix}`;

/** Extends `close` of a queue by `after`, which closes the connection of the queue. */
function closeWith<T extends { close(force?: boolean): Promise<void> }>(
  part: T,
  after: () => Promise<void>,
): T {
  const close = part.close.bind(part);
  part.close = async (force) => {
    await close(force);
    await after();
  };
  return part;
}
