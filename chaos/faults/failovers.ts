import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { PostgresPair } from '../servers/postgres-pair.ts';
import { type RedisNode, RedisPlaces } from '../servers/redis-places.ts';
import { Steady } from '../steady.ts';
import { eventually, until } from '../until.ts';
import type { World } from '../world.ts';
import { claimNoUncaughtErrors, requireRunning } from './database.ts';
import type { Fault } from './fault.ts';

const CLUSTER_KILLS = 50;
const SENTINEL_KILLS = 20;
const PROMOTIONS = 20;
/** Nodes whose blocks are recorded, on three chains each. */
const WATCH = 10;
const DAYS = 3;
const COMPLETION_TIMEOUT_MS = 300_000;
/** A key of the queue; all of them are in one slot. */
const KEY = '{chain-recorder}:polls:id';

const invariants = ['A', 'B', 'C', 'E'] as const;
const sandbox = { blocksPerHour: 60 };

const slots = z.array(
  z.tuple([z.number(), z.number(), z.tuple([z.string(), z.number()]).rest(z.unknown())]).rest(z.unknown()),
);

/** Sends a command to a node over a separate connection. */
async function withRedis<T>(port: number, query: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(port, { maxRetriesPerRequest: 1, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    return await query(redis);
  } finally {
    redis.disconnect();
  }
}

/** The port of the queue's primary by a node of the cluster. */
async function fetchQueuePrimaryPort(port: number): Promise<number | undefined> {
  return withRedis(port, async (redis) => {
    const slot = await redis.cluster('KEYSLOT', KEY);
    const slotRanges = slots.parse(await redis.cluster('SLOTS'));
    return slotRanges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
  });
}

/** Whether a node is a replica of its primary with all of its data. */
const isSyncedReplica = (port: number) =>
  withRedis(port, async (redis) => /master_link_status:up/.test(await redis.info('replication')));

/** Servers, one of which holds the queue, and another one is promoted when it fails. */
interface FailoverSetup {
  readonly url: string;
  /** The server with the queue, by all live ones. @returns undefined while they disagree */
  holder(): Promise<RedisNode | undefined>;
  kill(node: RedisNode): Promise<void>;
  /** Restarts a killed server. Resolves when it is a replica of the promoted one. */
  rejoin(node: RedisNode, holder: RedisNode): Promise<void>;
}

async function startClusterFailover(places: RedisPlaces): Promise<FailoverSetup> {
  const nodes = new Map((await places.startCluster()).map((node) => [node.port, node]));
  const alive = new Set(nodes.keys());
  return {
    url: `redis-cluster://${[...alive].map((port) => `127.0.0.1:${port}`).join(',')}`,
    async holder() {
      const [first, ...others] = new Set(
        await Promise.all([...alive].map((port) => fetchQueuePrimaryPort(port))),
      );
      return first === undefined || others.length > 0 || !alive.has(first) ? undefined : nodes.get(first);
    },
    async kill(node) {
      alive.delete(node.port);
      await places.kill(node);
    },
    async rejoin(node) {
      nodes.set(node.port, await places.again(node));
      await eventually('the killed node to follow', () => isSyncedReplica(node.port));
      alive.add(node.port);
    },
  };
}

async function startSentinelFailover(places: RedisPlaces): Promise<FailoverSetup> {
  const { primary, replica, sentinels } = await places.startSentinels();
  const nodes = new Map([primary, replica].map((node) => [node.port, node]));
  const ports = sentinels.map(({ port }) => port);
  const fetchPrimaryPort = (port: number) =>
    withRedis(port, async (redis) => {
      const reply = await redis.call('SENTINEL', 'get-master-addr-by-name', 'recorder');
      return Number(z.tuple([z.string(), z.string()]).parse(reply)[1]);
    });
  const hasReplica = (port: number) =>
    withRedis(port, async (redis) => {
      const reply = String(await redis.call('SENTINEL', 'replicas', 'recorder'));
      return /slave-repl-offset/.test(reply) && !/s_down|o_down|disconnected/.test(reply);
    });
  return {
    url: `redis-sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/recorder`,
    async holder() {
      const [first = 0, ...others] = new Set(await Promise.all(ports.map(fetchPrimaryPort)));
      return others.length > 0 ? undefined : nodes.get(first);
    },
    kill: (node) => places.kill(node),
    async rejoin(node, holder) {
      const server = await places.again(node, '--replicaof', `127.0.0.1 ${holder.port}`);
      nodes.set(node.port, server);
      await eventually('the killed node to follow', () => isSyncedReplica(node.port));
      // Sentinels cannot promote a replica that they have not discovered yet.
      for (const port of ports) await eventually('the sentinels to discover it', () => hasReplica(port));
    },
  };
}

/** Milliseconds from a moment to the first run that started after it. */
async function measureNextRun({ sql }: World, moment: Date): Promise<number> {
  const at = await eventually(
    'a run to start and to be committed',
    async () => {
      const [row] = await sql<{ at: Date | null }[]>`
        select min(started_at) as at from recorder.runs where started_at > ${moment} and status = 'done'`;
      return row?.at ?? null;
    },
    COMPLETION_TIMEOUT_MS,
  );
  return at.getTime() - moment.getTime();
}

/** The usual work completes. */
async function expectCompletion(world: World, steady: Steady): Promise<void> {
  const { sql, evidence } = world;
  await steady.waitUntilCovered(COMPLETION_TIMEOUT_MS);
  requireRunning(steady);
  claimNoUncaughtErrors(world);
  for (const recorder of steady.running)
    evidence.bound('memory of up, in MiB', await recorder.samplePeakMemory(), 256);
  await steady.stop();
  const runs = await sql<{ status: string; runs: number }[]>`
    select status, count(*)::int as runs from reporting.runs group by status order by status`;
  evidence.figures.set('runs', runs.map(({ status, runs }) => `${status} ${runs}`).join(', '));
}

/** The server with the queue is killed repeatedly while runs continue; each time another one is promoted. */
async function killPrimaries(
  world: World,
  open: (places: RedisPlaces) => Promise<FailoverSetup>,
  kills: number,
) {
  const { evidence, random, setting, closers } = world;
  const places = new RedisPlaces();
  closers.add(() => places.stop());
  const setup = await open(places);
  const steady = await Steady.start(world, {
    watch: WATCH,
    days: DAYS,
    processes: 2,
    env: { REDIS_URL: setup.url },
  });
  await steady.waitUntilRecorded();
  const durationsMs = { failover: [] as number[], runs: [] as number[], withoutKill: [] as number[] };
  for (let kill = 0; kill < (setting.options.kills ?? kills); kill++) {
    durationsMs.withoutKill.push(await measureNextRun(world, new Date()));
    await delay(random.unit() * 5_000);
    const holder = await until('one server to hold the queue', () => setup.holder());
    const moment = new Date();
    await setup.kill(holder);
    evidence.serve('primary killed');
    const next = await eventually('another server to hold the queue', async () => {
      const now = await setup.holder();
      return now && now.port !== holder.port ? now : null;
    });
    durationsMs.failover.push(Date.now() - moment.getTime());
    // A worker's active run continues without its queue.
    const failedOverAt = new Date();
    durationsMs.runs.push(
      (await measureNextRun(world, failedOverAt)) + failedOverAt.getTime() - moment.getTime(),
    );
    await setup.rejoin(holder, next);
  }
  evidence.times('from the kill until another server held the queue', durationsMs.failover);
  evidence.times('from the kill to the first run started after that', durationsMs.runs);
  evidence.times('from any moment to the next run, without a kill', durationsMs.withoutKill);
  await steady.expectRecovery('the last kill');
  await expectCompletion(world, steady);
}

const clusterKilled: Fault = {
  numbers: [82],
  title: 'the primary of a Redis Cluster that holds the queue is killed repeatedly',
  backends: 'redis',
  invariants,
  sandbox,
  inject: (world) => killPrimaries(world, startClusterFailover, CLUSTER_KILLS),
};

const sentinelKilled: Fault = {
  numbers: [83],
  title: 'the primary that sentinels watch is killed repeatedly',
  backends: 'redis',
  invariants,
  sandbox,
  inject: (world) => killPrimaries(world, startSentinelFailover, SENTINEL_KILLS),
};

/** The visible rows of a server. A synchronous standby has a row before any reader sees it. */
async function countVisibleRows({ sql }: Pick<World, 'sql'>): Promise<Record<string, number>> {
  const [row] = await sql<Record<string, number>[]>`
    select (select count(*)::int from recorder.runs where status = 'done') as runs,
      (select count(*)::int from recorder.proposed_blocks) as blocks,
      (select count(*)::int from recorder.changes) as changes`;
  return row ?? {};
}

const promotions: Fault = {
  numbers: [84],
  title: 'the primary is killed and its synchronous standby promoted, repeatedly',
  backends: 'each',
  invariants,
  sandbox,
  async inject(world) {
    const { evidence, random, setting, closers } = world;
    const pair = await PostgresPair.start(closers, { synchronous: true });
    world.databaseUrl = pair.url;
    world.useDatabase(pair.urls[0]);
    const steady = await Steady.start(world, { watch: WATCH, days: DAYS, processes: 2 });
    await steady.waitUntilRecorded();
    const durationsMs = { promoted: [] as number[], runs: [] as number[], withoutKill: [] as number[] };
    const lost: Record<string, number> = {};
    for (let promotion = 0; promotion < (setting.options.kills ?? PROMOTIONS); promotion++) {
      durationsMs.withoutKill.push(await measureNextRun(world, new Date()));
      await delay(random.unit() * 5_000);
      const before = await countVisibleRows(world);
      const moment = new Date();
      await pair.primary.kill();
      evidence.serve('primary killed');
      await pair.promote();
      evidence.serve('promotion');
      durationsMs.promoted.push(Date.now() - moment.getTime());
      world.useDatabase(pair.standbyUrl);
      const after = await countVisibleRows(world);
      for (const [name, count] of Object.entries(before))
        lost[name] = (lost[name] ?? 0) + Math.max(0, count - (after[name] ?? 0));
      const promotedAt = new Date();
      durationsMs.runs.push(
        (await measureNextRun(world, promotedAt)) + promotedAt.getTime() - moment.getTime(),
      );
      await pair.rejoin();
    }
    evidence.times('from the kill until the standby was writable', durationsMs.promoted);
    evidence.times('from the kill to the first run started after that', durationsMs.runs);
    evidence.times('from any moment to the next run, without a kill', durationsMs.withoutKill);
    for (const [name, count] of Object.entries(lost)) evidence.claim(`${name} lost: ${count}`, count === 0);
    await steady.expectRecovery('the last promotion');
    await expectCompletion(world, steady);
  },
};

export const failoverFaults: readonly Fault[] = [clusterKilled, sentinelKilled, promotions];
