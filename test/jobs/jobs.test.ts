import { Redis } from 'ioredis';
import { pino } from 'pino';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { activeFeeds, catalogNames } from '../../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../../src/app/upstream-opener.ts';
import { validateConfig } from '../../src/config/load.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import type { Range, Window } from '../../src/datasets/contract.ts';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { LEASE_SECONDS } from '../../src/db/leases.ts';
import type { QueueBackend, RecorderQueue } from '../../src/jobs/backend.ts';
import { HEALS, POLLS, planJob, recordJob } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/jobs/open-backend.ts';
import { reconcileSchedules } from '../../src/jobs/schedules.ts';
import { planFeed, type Queues, startWorkers, type WorkerContext } from '../../src/jobs/workers.ts';
import type { ActiveFeed } from '../../src/recording/active-feed.ts';
import { claimRun } from '../../src/recording/claim-run.ts';
import type { RecordingContext, RunResult } from '../../src/recording/context.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { block, blocksTarget } from '../support/blocks.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { gate, jobFor, onlyPage, pagesOf, recordingContext, scriptedFeed } from '../support/scripted-feed.ts';
import { sendJson, upstreamServer } from '../support/upstream-server.ts';

const redisUrl = inject('redisUrl');
const silent = pino({ level: 'silent' });
const never = new AbortController().signal;
const now = () => Date.now();
const hour = 3_600_000;

/** A Redis database of this file in the Redis of the test run. */
const ownRedis = redisUrl === null ? null : `${redisUrl}/5`;

const kinds = [
  { kind: 'postgres', skip: false },
  {
    kind: `redis${redisUrl === null ? ` (skipped: ${inject('redisSkipReason')})` : ''}`,
    skip: redisUrl === null,
  },
];

describe.each(kinds)('the queue on $kind', ({ kind, skip }) => {
  const onRedis = kind.startsWith('redis');
  let database: TestDatabase;
  let sql: postgres.Sql;
  let backend: QueueBackend;
  let queues: Queues;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    if (skip) return;
    database = await testDatabase();
    sql = postgres(database.url, { max: 12, onnotice: () => {} });
    backend = await openBackend(
      { redisUrl: onRedis ? (ownRedis ?? '') : undefined, databaseUrl: database.url },
      silent,
      never,
    );
    queues = { polls: await backend.queue(POLLS), heals: await backend.queue(HEALS) };
  });
  afterAll(async () => {
    if (skip) return;
    await Promise.all([queues.polls.close(), queues.heals.close()]);
    await backend.close();
    await sql.end();
    await database.close();
  });
  beforeEach(async ({ skip: skipTest }) => {
    if (skip) skipTest(inject('redisSkipReason') ?? '');
    await wipe();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  /** Removes everything from the queue, as an operator's FLUSHALL or TRUNCATE does. */
  async function wipe(): Promise<void> {
    if (onRedis) {
      const redis = new Redis(ownRedis ?? '');
      await redis.flushdb();
      redis.disconnect();
      return;
    }
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = 'bullmq' and tablename not like '%migration%'`;
    await sql.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`);
  }

  const countWaiting = async (queue: RecorderQueue) => {
    const {
      waiting = 0,
      prioritized = 0,
      delayed = 0,
    } = await queue.getJobCounts('waiting', 'prioritized', 'delayed');
    return waiting + prioritized + delayed;
  };

  /** Starts workers for feeds; returns their runs, as they end. */
  async function work(
    feeds: readonly ActiveFeed[],
    recording: RecordingContext = recordingContext(sql, now),
  ) {
    const runs: RunResult[] = [];
    const context: WorkerContext = {
      sql,
      clock: now,
      feeds,
      recording,
      log: silent,
      finished: (result) => runs.push(result),
    };
    const stop = await startWorkers(backend, queues, context);
    stops.push(() => stop(5_000));
    return { runs, context, stop };
  }

  const context = (feeds: readonly ActiveFeed[]): WorkerContext => ({
    sql,
    clock: now,
    feeds,
    recording: recordingContext(sql, now),
    log: silent,
  });

  describe('schedules', () => {
    const feed = (every: number) => scriptedFeed(nodeIdentity, { node: 'n' }, { every });
    const present = async () => {
      const schedules = await queues.polls.getJobSchedulers();
      return new Map(schedules.map(({ key, every }) => [key, Number(every)]));
    };
    const expectedSchedules = (feeds: readonly ActiveFeed[]) =>
      new Map(feeds.map(({ source, every }) => [`plan ${source.name}`, every]));
    const reconcile = (feeds: readonly ActiveFeed[], polls = queues.polls) =>
      reconcileSchedules(database.url, { ...queues, polls }, feeds, silent);
    const nothing = { set: [], removed: [], freed: 0 };

    it('equal the configuration after a reconciliation, which then changes nothing', async () => {
      const feeds = [feed(hour), feed(2 * hour)];
      expect((await reconcile(feeds)).set).toHaveLength(2);
      expect(await present()).toEqual(expectedSchedules(feeds));
      expect(await reconcile(feeds)).toMatchObject(nothing);
    });

    it('follow the configuration: other intervals, added and removed feeds, and feeds without targets', async () => {
      const [stays, removed, empties] = [feed(hour), feed(hour), feed(hour)];
      await reconcile([stays, removed, empties]);
      const [changed, added] = [{ ...stays, every: 3 * hour }, feed(hour)];
      await reconcile([changed, added, { ...empties, targets: [] }]);
      expect(await present()).toEqual(expectedSchedules([changed, added]));
    });

    it('are created again after everything in the queue is removed', async () => {
      const feeds = [feed(hour), feed(hour)];
      await reconcile(feeds);
      await wipe();
      expect(await present()).toEqual(new Map());
      await reconcile(feeds);
      expect(await present()).toEqual(expectedSchedules(feeds));
      expect(await countWaiting(queues.polls)).toBeGreaterThan(0);
    });

    it.each([
      ['in the past', -2 * hour],
      ['too far ahead', 3 * hour],
    ])('that are frozen, their next tick %s, are removed and created again', async (_, jump) => {
      const feeds = [feed(hour)];
      await reconcile(feeds);
      const jumped = new Proxy(queues.polls, {
        get(target, name, receiver) {
          if (name !== 'getJobSchedulers') return Reflect.get(target, name, receiver);
          return async () =>
            (await target.getJobSchedulers()).map((one) => ({ ...one, next: Number(one.next) + jump }));
        },
      });
      const [id = ''] = [...expectedSchedules(feeds).keys()];
      expect(await reconcile(feeds, jumped)).toMatchObject({ set: [id], removed: [id], freed: 0 });
      expect(await present()).toEqual(expectedSchedules(feeds));
      const [schedule] = await queues.polls.getJobSchedulers();
      expect(Number(schedule?.next)).toBeGreaterThan(Date.now() - 1000);
    });

    it.each(onRedis ? ['job', 'job and its place'] : ['job'])(
      'tick again after the %s of the next tick was removed',
      async (removed) => {
        const feeds = [feed(24 * hour)];
        await reconcile(feeds);
        const { stop } = await work(feeds);
        const countDelayed = async () => (await queues.polls.getJobCounts('delayed')).delayed;
        await expect.poll(countDelayed, { timeout: 10_000 }).toBe(1);
        await stop(5_000);
        if (onRedis) {
          const redis = new Redis(ownRedis ?? '');
          await redis.del(await redis.keys(`*:polls:repeat:plan *:*`));
          if (removed !== 'job') await redis.del(await redis.keys('*:polls:delayed'));
          redis.disconnect();
        } else await sql`delete from bullmq.job where state = 'delayed'`;
        const [id = ''] = [...expectedSchedules(feeds).keys()];
        expect(await reconcile(feeds)).toMatchObject({ set: [id], removed: [id] });
        expect(await countWaiting(queues.polls)).toBeGreaterThan(0);
        expect(await reconcile(feeds)).toMatchObject(nothing);
      },
    );

    it('are one per feed, with one waiting job each, when eight processes start at once', async () => {
      const feeds = [feed(hour), feed(hour)];
      await Promise.all(Array.from({ length: 8 }, () => reconcile(feeds)));
      for (let restarts = 0; restarts < 4; restarts++) await reconcile(feeds);
      expect(await present()).toEqual(expectedSchedules(feeds));
      expect(await countWaiting(queues.polls)).toBe(2);
    });

    it('are owned by one process at a time: another one does not change them meanwhile', async () => {
      const [listing, resume] = [gate(), gate()];
      const slow = new Proxy(queues.polls, {
        get(target, name, receiver) {
          if (name !== 'getJobSchedulers') return Reflect.get(target, name, receiver);
          return async () => {
            listing.open();
            await resume.opened;
            return target.getJobSchedulers();
          };
        },
      });
      const feeds = [feed(hour)];
      const first = reconcile(feeds, slow);
      await listing.opened;
      expect(await reconcile(feeds)).toMatchObject(nothing);
      expect(await present()).toEqual(new Map());
      resume.open();
      expect((await first).set).toHaveLength(1);
    });

    it('keep their owner to the end when the session of its lock is closed meanwhile', async () => {
      const cutting = new Proxy(queues.polls, {
        get(target, name, receiver) {
          if (name !== 'getJobSchedulers') return Reflect.get(target, name, receiver);
          return async () => {
            const cut = await sql`
              select pg_terminate_backend(pid) from pg_locks
              where relation = 'recorder_locks.locks'::regclass and mode = 'RowShareLock' and granted
                and database = (select oid from pg_database where datname = current_database())`;
            expect(cut).toHaveLength(1);
            return target.getJobSchedulers();
          };
        },
      });
      const feeds = [feed(hour)];
      expect((await reconcile(feeds, cutting)).set).toHaveLength(1);
      expect(await reconcile(feeds)).toMatchObject(nothing);
    });

    it('release jobs that a clock two hours ahead had delayed, and keep the time of others', async () => {
      const [ahead, right] = [feed(hour), feed(hour)];
      for (const [one, timestamp] of [
        [ahead, Date.now() + 2 * hour],
        [right, Date.now()],
      ] as const) {
        const { name, data, opts } = recordJob(one, jobFor(one));
        for (const queue of [queues.polls, queues.heals])
          await queue.add(name, data, { ...opts, timestamp, delay: 30_000 });
      }
      expect((await reconcile([])).freed).toBe(2);
      const remaining = await queues.polls.getJobs(['delayed']);
      expect(remaining.map(({ data }) => data)).toMatchObject([{ feed: right.source.name }]);
      expect(await countWaiting(queues.heals)).toBe(1);
    });

    it('tick: due targets are recorded repeatedly', async () => {
      const ticking = scriptedFeed(nodeIdentity, { node: 'ticking' }, { every: 1_000 });
      ticking.script = () => onlyPage({ nodeID: 'NodeID-1' });
      const { runs } = await work([ticking]);
      await reconcile([ticking]);
      await expect.poll(() => runs.length, { timeout: 15_000 }).toBeGreaterThan(2);
      expect(runs.every(({ status }) => status === 'done')).toBe(true);
    });
  });

  const range: Range = {
    axis: 'time',
    span: () => hour,
    head: () => 60_000,
    settle: 0,
    lookback: 5.5 * hour,
  };

  describe('a plan', () => {
    it('enqueues one job of each target, however often it is made: the poll, then a heal', async () => {
      const feed = scriptedFeed(proposedBlocks, blocksTarget(), { range });
      const two: ActiveFeed = { ...feed, targets: [...feed.targets, blocksTarget()] };
      for (let plans = 0; plans < 3; plans++) await planFeed(context([two]), queues, two);
      expect([await countWaiting(queues.polls), await countWaiting(queues.heals)]).toEqual([2, 0]);
      await wipe();
      await sql`update recorder.target_datasets set last_success_at = now() where source = ${feed.source.name}`;
      for (let plans = 0; plans < 3; plans++) await planFeed(context([two]), queues, two);
      expect([await countWaiting(queues.polls), await countWaiting(queues.heals)]).toEqual([0, 2]);
    });

    it('enqueues nothing that is not due', async () => {
      const feed = scriptedFeed(nodeIdentity, { node: 'fresh' });
      await planFeed(context([feed]), queues, feed);
      await sql`update recorder.target_datasets set last_success_at = now() where source = ${feed.source.name}`;
      await wipe();
      await planFeed(context([feed]), queues, feed);
      expect(await countWaiting(queues.polls)).toBe(0);
    });
  });

  describe('workers', () => {
    it('record from an upstream over HTTP, end to end', async () => {
      const server = await upstreamServer(({ body }, response) => {
        const { id, method } = JSON.parse(body);
        const result = {
          rewardingStakePercentage: '99.9',
          weightedAveragePercentage: '98.76543210987654321',
        };
        sendJson(response, { jsonrpc: '2.0', id, result: method === 'info.uptime' ? result : null });
      });
      stops.push(server.close);
      const config = validateConfig(
        { network: 'mainnet', upstreams: { nodes: [{ name: 'end-to-end', url: server.url }] } },
        catalogNames,
        'test',
      );
      const feed = activeFeeds(config).find(({ source }) => source.name === 'node-reported-uptime');
      if (!feed) throw new Error('the catalog has no such feed');
      const keys = { chainDataKey: undefined, metricsKey: undefined };
      const open = createUpstreamOpener(config, keys, sql, now);
      const { runs } = await work([feed], { ...recordingContext(sql, now), open });
      const { name, data, opts } = planJob(feed.source.name, 'test');
      await queues.polls.add(name, data, opts);
      await expect.poll(() => runs.length, { timeout: 10_000 }).toBe(1);
      expect(runs).toMatchObject([{ status: 'done', rowsWritten: [1], requests: 4 }]); // three of its identity
      const rows = await sql`
        select weighted_average_percentage from reporting.node_reported_uptime where node = 'end-to-end'`;
      expect([...rows]).toEqual([{ weighted_average_percentage: '98.76543210987654321' }]);
    });

    it('heal one gap after the other until there is none, polls first, without a tick', async () => {
      const targets = Array.from({ length: 4 }, blocksTarget);
      const feed = { ...scriptedFeed(proposedBlocks, targets[0] ?? {}, { range, every: hour }), targets };
      let number = 0;
      const source = {
        ...feed.source,
        walk: (_client: unknown, _target: unknown, window: Window | null) => {
          number += 1;
          return onlyPage(
            { blocks: [block(number, Math.floor((window?.from ?? 0) / 1000))] },
            { proven: window },
          );
        },
      };
      await work([{ ...feed, source, datasets: feed.datasets.map((dataset) => ({ ...dataset, source })) }]);
      const { name, data, opts } = planJob(feed.source.name, 'test');
      await queues.polls.add(name, data, opts);
      const coveredHours = async () => {
        const rows = await sql<{ hours: number }[]>`
          select round(sum(upper(r) - lower(r)) / ${hour}::numeric, 1)::float8 as hours
          from recorder.coverage, unnest(covered) r
          where target_key = any(${targets.map(targetKey)}) group by target_key`;
        return rows.map(({ hours }) => hours);
      };
      await expect.poll(coveredHours, { timeout: 20_000 }).toEqual([5.5, 5.5, 5.5, 5.5]);
      const runs = await sql<{ reasons: string[] }[]>`
        select array_agg(reason order by run_id) as reasons from recorder.runs
        where source = ${feed.source.name} group by target_key`;
      expect(runs.map(({ reasons }) => reasons)).toEqual(
        targets.map(() => ['poll', ...Array(5).fill('heal')]),
      );
    });

    it.each([
      ['may pass is tried again later', new UpstreamFailure('refused', 'the call failed'), 1],
      ['is permanent is left to the next plan', new UpstreamFailure('auth', 'answered 401'), 0],
    ])('complete jobs although the upstream has a fault that %s', async (_, fault, delayed) => {
      const feed = scriptedFeed(nodeIdentity, { node: 'faulty' });
      feed.script = async function* () {
        yield* [];
        throw fault;
      };
      const { runs } = await work([feed]);
      const { name, data, opts } = recordJob(feed, jobFor(feed));
      await queues.polls.add(name, data, opts);
      await expect.poll(() => runs.length, { timeout: 10_000 }).toBe(1);
      const jobs = async () => {
        const { active = 0, delayed = 0 } = await queues.polls.getJobCounts('active', 'delayed');
        return { active, delayed };
      };
      await expect.poll(jobs).toEqual({ active: 0, delayed });
      expect(runs).toHaveLength(1);
    });

    it('wait for a target that another run holds, and drop the job that it made redundant', async () => {
      const [claimed, outdated] = [
        scriptedFeed(nodeIdentity, { node: 'held' }),
        scriptedFeed(nodeIdentity, { node: 'outdated' }),
      ];
      for (const feed of [claimed, outdated]) feed.script = () => onlyPage({ nodeID: 'NodeID-1' });
      const plannedAt = Date.now();
      for (const feed of [claimed, outdated]) {
        await claimRun(sql, feed, jobFor(feed), 'another', new Date().toISOString());
        await sql`update recorder.targets set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}) where source = ${feed.source.name}`;
        const { name, data, opts } = recordJob(feed, { ...jobFor(feed), plannedAt });
        await queues.polls.add(name, data, opts);
      }
      const { runs } = await work([claimed, outdated]);
      await expect
        .poll(async () => (await queues.polls.getJobCounts('delayed')).delayed, { timeout: 10_000 })
        .toBe(2);
      expect(runs).toEqual([]);
      await sql`update recorder.targets set run_id = null, lease_until = null where source = ${claimed.source.name}`;
      await sql`
        with freed as (update recorder.targets set run_id = null, lease_until = null where source = ${outdated.source.name})
        update recorder.target_datasets set last_success_at = ${new Date(plannedAt + 1)} where source = ${outdated.source.name}`;
      await expect.poll(() => countWaiting(queues.polls), { timeout: 10_000 }).toBe(0);
      await expect.poll(() => runs.map(({ feed }) => feed)).toEqual([claimed.source.name]);
    });

    it('log no warning about a lost lock: the lease decides which run records', async () => {
      const line = z.object({ level: z.number(), msg: z.string(), job: z.string().optional() });
      const lines: z.infer<typeof line>[] = [];
      const log = pino({ level: 'debug' }, { write: (text) => lines.push(line.parse(JSON.parse(text))) });
      const urls = { redisUrl: onRedis ? (ownRedis ?? '') : undefined, databaseUrl: database.url };
      const backend = await openBackend(urls, log, never);
      const end = gate();
      const worker = await backend.worker(POLLS, () => end.opened, { concurrency: 1 });
      stops.push(async () => {
        end.open();
        await worker.close();
        await backend.close();
      });
      const { name, data, opts } = planJob('nodes', 'at work');
      await queues.polls.add(name, data, opts);
      await expect.poll(async () => (await queues.polls.getJobCounts('active')).active).toBe(1);
      await wipe();
      const lockLost = { level: 20, msg: 'a job in progress lost its lock', job: opts.jobId };
      await expect.poll(() => lines).toContainEqual(lockLost);
      expect(lines.filter(({ level }) => level > 20)).toEqual([]);
    });

    it('ignore a job whose feed left the configuration', async () => {
      const feed = scriptedFeed(nodeIdentity, { node: 'gone' });
      const { runs } = await work([]);
      const { name, data, opts } = recordJob(feed, jobFor(feed));
      await queues.polls.add(name, data, opts);
      await expect
        .poll(
          async () =>
            (await countWaiting(queues.polls)) + ((await queues.polls.getJobCounts('active')).active ?? 0),
        )
        .toBe(0);
      expect(runs).toEqual([]);
    });
  });

  describe('stopping', () => {
    it('ends runs between two commits: committed rows are kept, and the run is recorded as stopped', async () => {
      const feed = scriptedFeed(proposedBlocks, blocksTarget(), { range });
      const underWay = gate();
      let signalled: AbortSignal | undefined;
      const recording: RecordingContext = {
        ...recordingContext(sql, now),
        open: (of, job, signals) => {
          signalled = signals.signal;
          return recordingContext(sql, now).open(of, job, signals);
        },
      };
      feed.script = async function* () {
        yield* pagesOf([{ body: { blocks: [block(1, 1)] }, proven: null, last: false, whole: true }]);
        underWay.open();
        await new Promise((resolve) => signalled?.addEventListener('abort', resolve, { once: true }));
        throw new UpstreamFailure('cancelled', 'stopped by the recorder');
      };
      const { stop } = await work([feed], recording);
      const { name, data, opts } = recordJob(feed, jobFor(feed, { from: 0, to: hour }));
      await queues.polls.add(name, data, opts);
      await underWay.opened;
      const started = performance.now();
      await stop(5_000);
      expect(performance.now() - started).toBeLessThan(5_000);
      const runs = await sql`
        select status, rows_written[1]::int as rows from recorder.runs where source = ${feed.source.name}`;
      expect([...runs]).toEqual([{ status: 'stopped', rows: 1 }]);
    });

    it('has a deadline, whatever hangs', async () => {
      const feed = scriptedFeed(nodeIdentity, { node: 'hanging' });
      const [hangs, released] = [gate(), gate()];
      feed.script = async function* () {
        hangs.open();
        await released.opened;
        yield* onlyPage({ nodeID: 'NodeID-1' });
      };
      const { stop } = await work([feed]);
      const { name, data, opts } = recordJob(feed, jobFor(feed));
      await queues.polls.add(name, data, opts);
      await hangs.opened;
      const started = performance.now();
      await stop(300);
      expect(performance.now() - started).toBeLessThan(2_000);
      released.open();
    });
  });
});
