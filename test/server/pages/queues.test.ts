import { pino } from 'pino';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { RedisServer } from '../../../chaos/servers/redis-server.ts';
import { activeFeeds, catalogNames } from '../../../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../../../src/app/upstream-opener.ts';
import { validateConfig } from '../../../src/config/load.ts';
import { nodeIdentity } from '../../../src/datasets/node/node-identity.ts';
import type { QueueBackend, RecorderQueue } from '../../../src/jobs/backend.ts';
import { HEALS, POLLS, recordJob } from '../../../src/jobs/jobs.ts';
import { openBackend } from '../../../src/jobs/open-backend.ts';
import { createQueuesView } from '../../../src/jobs/queue-content.ts';
import { QueueWatch, storeQueueStates } from '../../../src/jobs/queue-states.ts';
import { startWorkers } from '../../../src/jobs/workers.ts';
import { describeFinding, findingGroups } from '../../../src/reporting/reports/findings.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type PageServer, sendRequest, servePagesOf } from '../../support/page-server.ts';
import { jobFor, recordingContext, scriptedFeed } from '../../support/scripted-feed.ts';
import { sendJson, upstreamServer } from '../../support/upstream-server.ts';
import { linkOf, rowsOf, textOf } from './html.ts';

const silent = pino({ level: 'silent' });
const skipped = inject('redisSkipReason');
const MANY = 2_345;

describe.each([
  { kind: 'postgres', skip: false },
  { kind: `redis${skipped ? ` (skipped: ${skipped})` : ''}`, skip: skipped !== null },
])('/queues of a queue on $kind', ({ kind, skip }) => {
  let database: TestDatabase;
  let sql: postgres.Sql;
  let redis: RedisServer | undefined;
  let backend: QueueBackend;
  let queues: { polls: RecorderQueue; heals: RecorderQueue };
  let server: PageServer;

  beforeAll(async () => {
    if (skip) return;
    database = await testDatabase();
    sql = postgres(database.url, { max: 4, onnotice: () => {} });
    if (kind === 'redis') redis = await RedisServer.start();
    const urls = { redisUrl: redis?.url, databaseUrl: database.url };
    backend = await openBackend(urls, silent, new AbortController().signal);
    queues = { polls: await backend.queue(POLLS), heals: await backend.queue(HEALS) };
    server = await servePagesOf(database.url, { queues: createQueuesView(queues) });
  });
  afterAll(async () => {
    if (skip) return;
    await server.close();
    await queues.polls.close();
    await queues.heals.close();
    await backend.close();
    await redis?.stop();
    await sql.end();
    await database.close();
  });

  const page = async (path: string) => {
    const { code, headers, body } = await sendRequest(server.address + path);
    return { code, retryAfter: headers['retry-after'], body };
  };
  const text = async (path: string) => textOf((await page(path)).body);
  /** Polls the queue of polls, and stores the result as if it were a minute old. */
  async function checkQueue() {
    const found = await new QueueWatch('polls', queues.polls, backend.kind).check();
    await storeQueueStates(sql, 'recorder', [found]);
    await sql`update recorder.queues set error_since = error_since - interval '1 minute'`;
    return (await findingGroups(sql))
      .filter(({ component }) => component === 'queue')
      .map((one) => describeFinding(one));
  }

  it.skipIf(skip)('shows why a job failed, its attempts and its next attempt, without the key', async () => {
    const key = 'canary-0123456789';
    const upstream = await upstreamServer((_, response) =>
      sendJson(response, { message: `<b> no ${key}` }, 404),
    );
    const config = validateConfig(
      { network: 'mainnet', upstreams: { chainData: { url: upstream.url } } },
      catalogNames,
      'test',
    );
    const feed = activeFeeds(config).find(({ source }) => source.name === 'subnet-list');
    if (!feed) throw new Error('the catalog has no such feed');
    const keys = { chainDataKey: key, metricsKey: undefined };
    const stop = await startWorkers(backend, queues, {
      sql,
      clock: Date.now,
      feeds: [feed],
      recording: {
        ...recordingContext(sql, Date.now),
        open: createUpstreamOpener(config, keys, sql, Date.now),
      },
      log: silent,
    });
    const job = recordJob(feed, jobFor(feed));
    await queues.polls.add(job.name, job.data, job.opts);
    const delayedJobs = () => page('/queues/polls?state=delayed');
    await expect
      .poll(async () => rowsOf((await delayedJobs()).body), { timeout: 10_000 })
      .toEqual([
        [
          'poll',
          'Delayed',
          'subnet-list',
          'network=mainnet',
          expect.stringMatching(/^in \d+ s$/),
          '1 of 8',
          expect.stringContaining('404'),
        ],
      ]);
    expect((await delayedJobs()).body).not.toContain(key);
    await stop(5_000);
    await upstream.close();
  });

  it.skipIf(skip)(
    'with thousands of jobs shows their number, the first, and all of them page by page',
    async () => {
      const jobs = Array.from({ length: MANY }, (_, at) => {
        const target = { node: `n${String(at).padStart(4, '0')}` };
        return recordJob(scriptedFeed(nodeIdentity, target), { target, window: null, reason: 'poll' });
      });
      await queues.polls.addBulk(jobs);
      // The last result is cached for a moment.
      await expect.poll(() => text('/queues')).toContain('Waiting2\u202f345');
      const { code, body } = await page('/queues');
      expect(code).toBe(200);
      expect(rowsOf(body)).toHaveLength(10 + 1);
      const seenJobs = new Set<string>();
      let path: string | null = linkOf(body, '2\u202f345');
      while (path !== null) {
        const body: string = (await page(path)).body;
        for (const row of rowsOf(body)) seenJobs.add(row[3] ?? '');
        path = body.includes('rel="next"') ? linkOf(body, 'More') : null;
      }
      expect(seenJobs.size).toBe(MANY);
      expect(await text(`/queues/polls?after=${MANY + 50}`)).toContain('This page no longer exists');
    },
  );

  it.skipIf(skip)('that is paused is reported here and in the findings, until it is resumed', async () => {
    const both = queues.polls;
    if (!('pause' in both && typeof both.pause === 'function')) throw new Error('it cannot be paused');
    if (!('resume' in both && typeof both.resume === 'function')) throw new Error('it cannot be resumed');
    expect(await text('/queues')).not.toContain('This queue is paused');
    await both.pause();
    await expect.poll(() => text('/queues')).toContain('This queue is paused');
    expect(await checkQueue()).toEqual([
      expect.stringMatching(/^stalled since .*: queue polls: the queue is paused/),
    ]);
    await expect.poll(() => text('/')).toMatch(/queuepolls.*the queue is paused/s);
    await both.resume();
    await expect.poll(() => text('/queues')).not.toContain('This queue is paused');
    expect(await checkQueue()).toEqual([]);
  });

  it.skipIf(skip || kind === 'postgres').each([
    {
      what: 'is full',
      start: () => redis?.command('CONFIG', 'SET', 'maxmemory', '1'),
      end: () => redis?.command('CONFIG', 'SET', 'maxmemory', '0'),
      refused: 'OOM',
      why: 'the memory of the server is full',
      fix: 'raise maxmemory on the server',
    },
    {
      what: 'cannot save',
      start: async () => {
        await redis?.loseDirectory();
        await redis?.command('CONFIG', 'SET', 'save', '3600 1');
        await redis?.command('BGSAVE');
        await expect
          .poll(() => redis?.command('INFO', 'persistence'))
          .toContain('rdb_last_bgsave_status:err');
      },
      end: () => redis?.command('CONFIG', 'SET', 'save', ''),
      refused: 'MISCONF',
      why: 'the server could not save its data to disk',
      fix: 'see the log of Redis; free disk space',
    },
  ])(
    'whose Redis $what is reported on every page and stays readable, until it recovers',
    async ({ start, end, refused, why, fix }) => {
      const another = recordJob(scriptedFeed(nodeIdentity, { node: 'n' }), {
        target: { node: 'n' },
        window: null,
        reason: 'poll',
      });
      const addJob = () => queues.polls.add(another.name, another.data, another.opts);
      await start();
      await expect(addJob()).rejects.toThrow(refused);
      await expect.poll(() => text('/queues')).toContain(why);
      const body = await text('/queues');
      expect(body).toContain(fix);
      expect(body).toMatch(/This queue is stalled.*No data is lost/s);
      // Waiting jobs are still shown.
      expect(body).toContain('Waiting2\u202f34');
      expect(rowsOf((await page('/queues/polls')).body)).toHaveLength(50);
      expect(await checkQueue()).toEqual([
        expect.stringMatching(new RegExp(`^stalled since .*: queue polls: Redis rejects writes: .*${why}`)),
      ]);
      // The previous result is cached for a moment.
      await expect.poll(() => text('/')).toMatch(new RegExp(`queuepolls.*${why}`, 's'));
      await expect.poll(() => text('/runs')).toMatch(new RegExp(`No scheduled run starts.*${why}`, 's'));
      // Probes of nodes need no queue, and the public page does not report it.
      const status = await page('/status');
      expect(status.code).toBe(200);
      expect(status.body).not.toMatch(/memory|Redis/);
      await end();
      await addJob();
      await expect.poll(() => text('/queues')).not.toContain('This queue is stalled');
      expect(await checkQueue()).toEqual([]);
      await expect.poll(() => text('/runs')).not.toContain('No scheduled run starts');
    },
  );

  it.skipIf(skip || kind === 'postgres')(
    'that is down is reported with what continues, and recovers by itself',
    async () => {
      await redis?.crash();
      await expect
        .poll(() => text('/queues'), { timeout: 20_000 })
        .toMatch(/The queue does not respond\..*No data is lost/s);
      const whole = await page('/queues');
      expect(whole.code).toBe(200);
      expect(whole.body).toContain('id="schedules"');
      expect(await page('/queues/polls')).toMatchObject({
        code: 503,
        retryAfter: '10',
        body: expect.stringContaining('<h1>Queue unavailable'),
      });
      expect(await checkQueue()).toEqual([
        expect.stringMatching(/queue polls: Redis does not respond: start Redis/),
      ]);
      expect((await page('/')).code).toBe(200);
      expect(await text('/')).toContain('REDIS_URL');
      await redis?.start();
      await expect.poll(() => text('/queues'), { timeout: 20_000 }).toContain('No job is active or waiting.');
      expect(await checkQueue()).toEqual([]);
    },
  );

  it.skipIf(skip).each(['/queues/none', '/queues/polls%00', '/queues/__proto__'])(
    'returns 404 at %s',
    async (path) => {
      expect((await page(path)).code).toBe(404);
    },
  );

  it.skipIf(skip).each([
    ['state=completed', 'state: must be one of active, waiting, prioritized, delayed'],
    ['after=-1', 'after: must be a number'],
    ['after=1&after=2', 'after: is given more than once'],
  ])('refuses ?%s', async (query, message) => {
    expect(await page(`/queues/polls?${query}`)).toMatchObject({
      code: 400,
      body: expect.stringContaining(message),
    });
  });
});
