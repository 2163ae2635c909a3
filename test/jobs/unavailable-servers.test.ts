import { pino } from 'pino';
import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { HEALS, POLLS, recordJob } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/jobs/open-backend.ts';
import { startWorkers } from '../../src/jobs/workers.ts';
import type { RunResult } from '../../src/recording/context.ts';
import { testDatabase } from '../support/database.ts';
import { jobFor, onlyPage, recordingContext, scriptedFeed } from '../support/scripted-feed.ts';

const silent = pino({ level: 'silent' });
const never = new AbortController().signal;
const now = () => Date.now();

describe('an unavailable PostgreSQL', () => {
  it('is waited for at the start, and then the queue works', async () => {
    const database = await testDatabase();
    const sql = postgres(database.url, { onnotice: () => {} });
    const proxy = await TcpProxy.open(Number(new URL(database.url).port));
    proxy.weather = { kind: 'down' };
    const urls = { redisUrl: undefined, databaseUrl: proxy.before(database.url) };
    const opening = openBackend(urls, silent, never);
    await expect.poll(() => proxy.opened, { timeout: 10_000 }).toBeGreaterThan(0);
    proxy.weather = { kind: 'fair' };
    const backend = await opening;
    const queues = { polls: await backend.queue(POLLS), heals: await backend.queue(HEALS) };
    const feed = scriptedFeed(nodeIdentity, { node: 'patient' });
    feed.script = () => onlyPage({ nodeID: 'NodeID-1' });
    const runs: RunResult[] = [];
    const stop = await startWorkers(backend, queues, {
      sql,
      clock: now,
      feeds: [feed],
      recording: recordingContext(sql, now),
      log: silent,
      finished: (result) => runs.push(result),
    });
    // Cut off once more, when a job is due: the listening and querying connections reopen by themselves, and poll
    // without a notification of a new job or of the next due one.
    const { name, data, opts } = recordJob(feed, jobFor(feed));
    await queues.polls.add(name, data, { ...opts, delay: 4_000 });
    proxy.weather = { kind: 'down' };
    proxy.reset();
    const tried = proxy.opened;
    await expect.poll(() => proxy.opened, { timeout: 10_000 }).toBeGreaterThan(tried);
    proxy.decide((statement) => (/next_delay\(|AS present/.test(statement) ? 'cut-before' : 'forward'));
    proxy.weather = { kind: 'fair' };
    await expect.poll(() => runs.map(({ status }) => status), { timeout: 20_000 }).toEqual(['done']);
    await stop(5_000);
    await Promise.all([queues.polls.close(), queues.heals.close()]);
    await backend.close();
    await proxy.close();
    await sql.end();
    await database.close();
  });

  it('is not waited for any more after an abort', async () => {
    const stopping = new AbortController();
    const urls = { redisUrl: undefined, databaseUrl: 'postgres://127.0.0.1:1/none' };
    const opening = openBackend(urls, silent, stopping.signal);
    stopping.abort();
    await expect(opening).rejects.toThrow('ECONNREFUSED');
  });
});

it('an unavailable Redis does not delay the stop of workers beyond the deadline', async () => {
  const database = await testDatabase();
  const sql = postgres(database.url, { onnotice: () => {} });
  const urls = { redisUrl: 'redis://127.0.0.1:1', databaseUrl: database.url };
  const backend = await openBackend(urls, silent, never);
  const queues = { polls: await backend.queue(POLLS), heals: await backend.queue(HEALS) };
  const stop = await startWorkers(backend, queues, {
    sql,
    clock: now,
    feeds: [],
    recording: recordingContext(sql, now),
    log: silent,
  });
  const started = performance.now();
  await stop(300);
  expect(performance.now() - started).toBeLessThan(2_000);
  await sql.end();
  await database.close();
});
