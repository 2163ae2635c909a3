import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { RedisPlaces } from '../../chaos/servers/redis-places.ts';
import { until } from '../../chaos/until.ts';
import { POLLS, planJob } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/jobs/open-backend.ts';
import { QueueWatch } from '../../src/jobs/queue-states.ts';
import { gate } from '../support/scripted-feed.ts';

const skipped = inject('redisSkipReason');
const silent = pino({ level: 'silent' });
const servers = new RedisPlaces();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await servers.stop();
});

/** A queue and its worker behind an address whose server may change. */
async function startWorkerBehind(proxy: TcpProxy) {
  const urls = { redisUrl: `redis://127.0.0.1:${proxy.port}`, databaseUrl: 'postgres://127.0.0.1:1/none' };
  const backend = await openBackend(urls, silent, new AbortController().signal);
  const queue = await backend.queue(POLLS);
  const done = new Set<string>();
  let onExecuted = () => {};
  const worker = await backend.worker(
    POLLS,
    async ({ data }) => {
      done.add(JSON.stringify(data));
      onExecuted();
    },
    { concurrency: 2 },
  );
  closing.push(async () => {
    await Promise.all([queue.close(), worker.close()]);
    await backend.close();
  });
  return {
    add: (feed: string) => {
      const { name, data, opts } = planJob(feed, 'now');
      return queue.add(name, data, opts);
    },
    /** Waits until a worker executed it. */
    waitForExecution: (feed: string) => {
      const job = JSON.stringify(planJob(feed, 'now').data);
      return new Promise<void>((resolve) => {
        onExecuted = () => {
          if (done.has(job)) resolve();
        };
        onExecuted();
      });
    },
  };
}

describe.skipIf(skipped)(`the queue in one Redis${skipped ? ` (skipped: ${skipped})` : ''}`, () => {
  it('reports the fix if its Redis stays a replica', async () => {
    const { port } = await servers.start();
    const urls = { redisUrl: `redis://127.0.0.1:${port}`, databaseUrl: 'postgres://127.0.0.1:1/none' };
    const backend = await openBackend(urls, silent, new AbortController().signal);
    const queue = await backend.queue(POLLS);
    const redis = new Redis(port);
    closing.push(async () => {
      await queue.close();
      redis.disconnect();
      await backend.close();
    });
    await redis.replicaof('127.0.0.1', 1);
    expect(await new QueueWatch('polls', queue, 'redis').check()).toMatchObject({
      error:
        'Redis rejects writes: the server is a replica: name the primary in REDIS_URL, or make this server a primary again (redis-cli replicaof no one)',
    });
  });

  it('continues when its address changes to the promoted replica, and the old primary is a replica', async () => {
    const primary = await servers.start();
    const replica = await servers.start(
      '--replicaof',
      `127.0.0.1 ${primary.port}`,
      '--repl-diskless-sync-delay',
      '0',
    );
    const proxy = await TcpProxy.open(primary.port);
    closing.push(() => proxy.close());
    const { add, waitForExecution } = await startWorkerBehind(proxy);
    await add('before');
    await waitForExecution('before');
    const [old, next] = [new Redis(primary.port), new Redis(replica.port)];
    await until('the replica to follow', async () =>
      /master_link_status:up/.test(await next.info('replication')),
    );
    await servers.replicated(primary);
    await next.call('REPLICAOF', 'NO', 'ONE');
    proxy.target = replica.port; // open connections keep their server
    await old.call('REPLICAOF', '127.0.0.1', String(replica.port));
    old.disconnect();
    next.disconnect();
    // Until its connection was reopened, the recorder uses a replica.
    await expect
      .poll(
        () =>
          add('after').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    await waitForExecution('after');
  });

  it('closes connections that became silent, and continues once new ones respond', async () => {
    const { port } = await servers.start();
    const proxy = await TcpProxy.open(port);
    closing.push(() => proxy.close());
    const { add, waitForExecution } = await startWorkerBehind(proxy);
    await add('before');
    await waitForExecution('before');
    expect(proxy.silence()).toBeGreaterThanOrEqual(3);
    await add('after');
    await waitForExecution('after');
  });

  it('closes a worker during an outage of Redis, once its active job is complete', async () => {
    const node = await servers.start();
    const unavailable = gate();
    const log = pino(
      { level: 'warn' },
      { write: (line) => line.includes('ECONNREFUSED') && unavailable.open() },
    );
    const urls = { redisUrl: `redis://127.0.0.1:${node.port}`, databaseUrl: 'postgres://127.0.0.1:1/none' };
    const backend = await openBackend(urls, log, new AbortController().signal);
    const queue = await backend.queue(POLLS);
    const [started, resume] = [gate(), gate()];
    const happened: string[] = [];
    const work = async () => {
      started.open();
      await resume.opened;
      happened.push('the job was over');
    };
    const worker = await backend.worker(POLLS, work, { concurrency: 2 });
    const { name, data, opts } = planJob('one', 'now');
    await queue.add(name, data, opts);
    await started.opened;
    await servers.kill(node);
    await unavailable.opened;
    const closed = worker.close().then(() => happened.push('the worker was closed'));
    await queue.close();
    resume.open();
    await closed;
    expect(happened).toEqual(['the job was over', 'the worker was closed']);
  }, 20_000);
});
