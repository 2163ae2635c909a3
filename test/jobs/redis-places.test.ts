import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { type RedisNode, RedisPlaces } from '../../chaos/servers/redis-places.ts';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { HEALS, POLLS, planJob } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/jobs/open-backend.ts';
import { redisClient } from '../../src/jobs/redis-client.ts';

const skipped = inject('redisSkipReason');
const silent = pino({ level: 'silent' });
const servers = new RedisPlaces();
afterEach(() => servers.stop());

/** Puts plans into both queues and waits until a worker executed them, before and after `lose`. */
async function worksWhile(redisUrl: string, lose: () => Promise<void>): Promise<void> {
  const urls = { redisUrl, databaseUrl: 'postgres://127.0.0.1:1/none' };
  const backend = await openBackend(urls, silent, new AbortController().signal);
  const done: string[] = [];
  let onExecuted = () => {};
  // As `up` connects: at once, before the client has discovered the nodes.
  const first = await backend.queue(POLLS);
  expect(await first.objection()).toBeNull();
  await first.close();
  const parts = await Promise.all(
    [POLLS, HEALS].map(async (name) => ({
      queue: await backend.queue(name),
      worker: await backend.worker(
        name,
        async ({ data }) => {
          done.push(`${name} ${JSON.stringify(data)}`);
          onExecuted();
        },
        { concurrency: 2 },
      ),
    })),
  );
  const waitForExecution = async (feed: string) => {
    const job = planJob(feed, 'now');
    await Promise.all(parts.map(({ queue }) => queue.add(job.name, job.data, job.opts)));
    await new Promise<void>((resolve) => {
      onExecuted = () => {
        const both = [POLLS, HEALS].every((name) =>
          done.some((one) => one.startsWith(`${name} `) && one.includes(`"${feed}"`)),
        );
        if (both) resolve();
      };
      onExecuted();
    });
  };
  await waitForExecution('before');
  await Promise.all(
    parts.map(({ queue }) =>
      queue.upsertJobScheduler('held', { every: 3_600_000 }, { ...planJob('held', 'tick') }),
    ),
  );
  await lose();
  await waitForExecution('after');
  for (const { queue } of parts) expect(await queue.getJobSchedulers()).toHaveLength(1);
  // Closing may hang after a primary was lost (BullMQ 6.7): `up` gives it a deadline, too.
  const closed = Promise.allSettled(parts.flatMap(({ queue, worker }) => [queue.close(), worker.close()]));
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 5_000).unref())]);
  await backend.close();
}

describe.skipIf(skipped)(`the queue${skipped ? ` (skipped: ${skipped})` : ''}`, () => {
  it('continues in a cluster whose primary with its keys fails', async () => {
    const nodes = await servers.startCluster();
    const client = new Redis(nodes[0]?.port ?? 0);
    const slot = Number(await client.cluster('KEYSLOT', '{chain-recorder}:polls:id'));
    client.disconnect();
    const holder: RedisNode | undefined = nodes[Math.floor((slot * 3) / 16_384)];
    const url = `redis-cluster://${nodes.slice(4).map(({ port }) => `127.0.0.1:${port}`)}`;
    await worksWhile(url, async () => {
      if (!holder) throw new Error(`no node holds slot ${slot}`);
      await servers.replicated(holder);
      await servers.kill(holder);
    });
  });

  it('connects once a cluster serves all slots again', async () => {
    const { port } = await servers.start(
      ...['--cluster-enabled', 'yes', '--cluster-config-file', 'alone.conf'],
      ...['--cluster-announce-ip', '127.0.0.1'],
    );
    const node = new Redis(port);
    await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16382');
    const client = redisClient(parseRedisUrl(`redis-cluster://127.0.0.1:${port}`), {
      lazyConnect: true,
      maxRetriesPerRequest: null,
      retryStrategy: () => 50,
    });
    // BullMQ waits only for this before it fetches the next job.
    const connecting = client.connect();
    await new Promise((resolve) => {
      client.once('ready', resolve);
      client.once('reconnecting', resolve);
    });
    await node.call('CLUSTER', 'ADDSLOTS', '16383');
    await connecting;
    expect(await client.set('key', 'value')).toBe('OK');
    client.disconnect();
    node.disconnect();
  });

  it('continues behind sentinels when the primary fails', async () => {
    const { primary, sentinels } = await servers.startSentinels();
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    await worksWhile(`redis-sentinel://${hosts}/recorder`, async () => {
      await servers.replicated(primary);
      await servers.kill(primary);
    });
  });
});
