import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type OnError, type QueueBackend, TAKEOVER } from './backend.ts';
import type { JobData } from './jobs.ts';
import { hasDatabase, OTHER_DATABASE } from './redis-database.ts';

const PREFIX = 'chain-recorder';

/** The queue in Redis, which may be away at any time. @param onError called when a connection breaks */
export function redisBackend(url: string, onError: OnError): QueueBackend {
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
    queue: async (name) => {
      const connection = connect();
      const queue = new Queue<JobData, void, string>(name, { connection, prefix: PREFIX });
      queue.on('error', onError);
      return Object.assign(
        closing(queue, () => connection.disconnect()),
        { objection: () => objectionTo(connection) },
      );
    },
    worker: async (name, work, options) => {
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
    close: async () => {},
  };
}

async function objectionTo(connection: Redis): Promise<string | null> {
  const { db } = connection.options;
  if (db && !(await hasDatabase(connection, db)))
    return `this Redis has no database ${db}: ${OTHER_DATABASE}`;
  const policy = /maxmemory_policy:(\S+)/.exec(await connection.info('memory'))?.[1] ?? 'noeviction';
  if (policy === 'noeviction') return null;
  return `this Redis evicts keys (maxmemory-policy ${policy}) and would lose schedules: set maxmemory-policy noeviction`;
}

/** Closes the connection that was passed in together with the queue or worker that uses it. */
function closing<T extends { close(force?: boolean): Promise<void> }>(part: T, after: () => void): T {
  const close = part.close.bind(part);
  part.close = async (force) => {
    await close(force);
    after();
  };
  return part;
}
