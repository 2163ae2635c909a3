import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Cluster, Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { Closers } from '../../chaos/closers.ts';
import { RedisPlaces } from '../../chaos/servers/redis-places.ts';
import { until } from '../../chaos/until.ts';
import type { RecorderQueue } from '../../src/jobs/backend.ts';
import { POLLS, queueNames } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/jobs/open-backend.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';

const skipped = inject('redisSkipReason');
const closers = new Closers();
afterEach(() => closers.close());

const DECIDES = 'this configuration became the newest';
const REFUSED =
  /REDIS_URL: this Redis is unsuitable for the queue: another recorder with the same name and another database uses this queue/;

/** Resolves once a command prints something; rejects if it ends before. */
function waitForLog(running: Running, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface(running.process.stderr).on('line', (line) => line.includes(text) && resolve());
    void running.ended.then(({ code, stderr }) => reject(new Error(`it ended with ${code}: ${stderr}`)));
  });
}

/** A process that uses a queue, and its database, which may change or be unavailable (null). */
interface Worker {
  readonly queue: RecorderQueue;
  database: string | null;
}

/** A process that uses a Redis. @param name of its recorder */
async function worker(redisUrl: string, database: string, name?: string): Promise<Worker> {
  const databaseUrl = 'postgres://127.0.0.1:1/none';
  const identity = async () => made.database;
  const silent = pino({ level: 'silent' });
  const backend = await openBackend(
    { redisUrl, databaseUrl, identity },
    silent,
    new AbortController().signal,
  );
  const made: Worker = { queue: await backend.queue(queueNames(name).polls), database };
  closers.add(() => made.queue.close().catch(() => {}));
  return made;
}

const KEY = `chain-recorder:owner:${POLLS}`;
const OTHERS = { found: expect.stringMatching(/^another recorder with the same name and another database/) };

describe.skipIf(skipped)(`a queue in Redis${skipped ? ` (skipped: ${skipped})` : ''}`, () => {
  const server = async () => {
    const servers = new RedisPlaces();
    closers.add(() => servers.stop());
    const { port } = await servers.start();
    const redis = new Redis(port);
    closers.add(() => redis.disconnect());
    return { url: `redis://127.0.0.1:${port}`, redis };
  };

  it('belongs to the database of the processes that use it, until the last of them has ended', async () => {
    const { url, redis } = await server();
    const [one, other] = [await worker(url, 'a'), await worker(url, 'b')];
    expect(await other.queue.objection()).toBeNull();
    await one.queue.claim();
    expect(await one.queue.objection()).toBeNull();
    expect(await other.queue.objection()).toMatchObject(OTHERS);
    // Names and databases of a Redis are separate.
    expect(await (await worker(url, 'b', 'second')).queue.objection()).toBeNull();
    expect(await (await worker(`${url}/1`, 'b')).queue.objection()).toBeNull();
    const sibling = await worker(url, 'a');
    await sibling.queue.claim();
    await one.queue.close();
    await sibling.queue.claim();
    expect(await other.queue.objection()).toMatchObject(OTHERS);
    await sibling.queue.close();
    expect(await other.queue.objection()).toBeNull();
    await other.queue.claim();
    expect(await redis.get(KEY)).toBe('b');
  });

  it('is free a minute after its process was killed', async () => {
    const { url, redis } = await server();
    await (await worker(url, 'a')).queue.claim();
    const ttl = await redis.pttl(KEY);
    expect(ttl).toBeGreaterThan(50_000);
    expect(ttl).toBeLessThanOrEqual(60_000);
  });

  it('that two processes claim at once belongs to the first, and the second is reported', async () => {
    const { url, redis } = await server();
    const [one, other] = [await worker(url, 'a'), await worker(url, 'b')];
    await one.queue.claim();
    await other.queue.claim();
    expect(await redis.get(KEY)).toBe('a');
    expect(await one.queue.refusal()).toBeNull();
    expect(await other.queue.refusal()).toMatch(
      /^another recorder with the same name .*: append the number of another database to the REDIS_URL of one/,
    );
    await other.queue.close();
    expect(await redis.get(KEY)).toBe('a');
    // A cleared queue is claimed by the first process that uses it.
    await redis.flushall();
    await one.queue.claim();
    expect(await redis.get(KEY)).toBe('a');
  });

  it('moves with a database that was replaced by a restored backup, and stays claimed while it is unavailable', async () => {
    const { url, redis } = await server();
    const processes = [await worker(url, 'a'), await worker(url, 'a')];
    for (const { queue } of processes) await queue.claim();
    for (const one of processes) one.database = null;
    await redis.pexpire(KEY, 1_000);
    for (const { queue } of processes) await queue.claim();
    expect(await redis.pttl(KEY)).toBeGreaterThan(50_000);
    for (const one of processes) one.database = 'restored';
    for (const { queue } of processes) {
      await queue.claim();
      expect(await queue.refusal()).toBeNull();
    }
    expect(await redis.get(KEY)).toBe('restored');
  });

  it('of a cluster is claimed too, and another recorder is refused until it has a name', async () => {
    const servers = new RedisPlaces();
    closers.add(() => servers.stop());
    const [node] = await servers.startCluster();
    const url = `redis-cluster://127.0.0.1:${node?.port}`;
    const [one, other] = [await worker(url, 'a'), await worker(url, 'b')];
    await one.queue.claim();
    const refused = await other.queue.objection();
    expect(refused).toMatchObject(OTHERS);
    expect(refused?.fix).toMatch(/^set another name \(name:\) for one recorder/);
    const cluster = new Cluster([{ host: '127.0.0.1', port: node?.port ?? 0 }]);
    closers.add(() => cluster.disconnect());
    expect(await cluster.get(`{chain-recorder}:owner:${POLLS}`)).toBe('a');
  });
});

describe.skipIf(skipped)(`one Redis${skipped ? ` (skipped: ${skipped})` : ''}`, () => {
  it('is refused to a second recorder with another database, until it has another name or place', async () => {
    const servers = new RedisPlaces();
    closers.add(() => servers.stop());
    const redis = `redis://127.0.0.1:${(await servers.start()).port}`;
    const cwd = mkdtempSync(join(tmpdir(), 'recorder-one-redis-'));
    closers.add(() => rmSync(cwd, { recursive: true }));
    const write = (name: string, more = '') => {
      writeFileSync(join(cwd, name), `network: mainnet\nupstreams: {}\n${more}`);
      return name;
    };
    const [plain, named] = [write('recorder.yaml'), write('named.yaml', 'name: second\n')];
    const databases = [await testDatabase(), await testDatabase()];
    for (const database of databases) closers.add(() => database.close());
    const start = (at: number, args: readonly string[], REDIS_URL = redis) => {
      const running = startCommand(args, { DATABASE_URL: databases[at]?.url, REDIS_URL }, cwd);
      closers.add(() => running.process.kill('SIGKILL'));
      return running;
    };
    const queueFound = async (at: number) => {
      const { stdout } = await start(at, ['doctor', '--json']).ended;
      const found = z.array(
        z.object({ check: z.string(), ok: z.boolean(), found: z.string(), fix: z.string().optional() }),
      );
      return found.parse(JSON.parse(stdout)).find(({ check }) => check === 'queue');
    };

    const first = start(0, ['up']);
    await waitForLog(first, DECIDES);
    await until('the queue to be reported as taken', async () => (await queueFound(1))?.ok === false);
    expect(await queueFound(1)).toMatchObject({
      found: expect.stringContaining(
        'another recorder with the same name and another database uses this queue',
      ),
      fix: expect.stringMatching(/REDIS_URL .*such as \/1, or .*\(name:\)/),
    });
    expect(await queueFound(0)).toMatchObject({ ok: true });

    const second = await start(1, ['up', '--config', plain]).ended;
    expect(second).toMatchObject({ code: 2, stderr: expect.stringMatching(REFUSED) });
    const fixed = [start(1, ['up', '--config', named]), start(1, ['up', '--config', plain], `${redis}/1`)];
    await Promise.all(fixed.map((running) => waitForLog(running, DECIDES)));
    // Another process of the first recorder does not conflict.
    await waitForLog(start(0, ['up']), DECIDES);

    first.process.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 0 });
  });
});
