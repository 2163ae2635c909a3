import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { TooManyReadsError } from '../../src/db/semaphore.ts';
import {
  RequestThrottle,
  RequestTimeBucket,
  type ThrottleLimits,
  throttleRequests,
} from '../../src/server/load-shedding.ts';

let server: FastifyInstance;
afterEach(() => server?.close());

const usual: ThrottleLimits = {
  atOnce: 4,
  share: () => 0.5,
  reserve: 0,
  counted: 1_000,
  maxWaitMs: 60_000,
  waiting: 100,
};

/** A server whose responses wait until they are released. */
async function createHoldingServer(pace: RequestThrottle) {
  server = Fastify();
  server.addHook('onRequest', (request, reply, done) => pace.admit(request, reply, done));
  const started: string[] = [];
  const pendingReleases: (() => void)[] = [];
  const refused: Error[] = [];
  server.setErrorHandler((error: Error, _request, reply) => {
    refused.push(error);
    return reply.code(503).send('');
  });
  server.get<{ Params: { name: string } }>('/:name', ({ params: { name } }) => {
    started.push(name);
    return new Promise<string>((resolve) => {
      pendingReleases.push(() => resolve(''));
    });
  });
  await server.ready();
  const release = () => {
    for (const releaseOne of pendingReleases.splice(0)) releaseOne();
  };
  /** Number of started ones; all are released. */
  const startedAndReleased = () => {
    release();
    return started.length;
  };
  return { started, release, startedAndReleased, refused };
}

/** Sends a request from an address. */
const sendRequest = (path: string, remoteAddress = '10.0.0.1') => server.inject({ url: path, remoteAddress });

describe('the time budget of requests', () => {
  it('is the reserve at first, then a share of all time', () => {
    const allowance = new RequestTimeBucket({ share: () => 0.25, reserve: 2_000 });
    allowance.begin(0);
    expect(allowance.wait(1_000)).toBe(0);
    expect(allowance.wait(2_667)).toBeGreaterThan(0);
    allowance.end(3_000);
    // 2,250 of 2,000 ms were used.
    expect(allowance.wait(3_000)).toBe(1_000);
    expect(allowance.wait(3_999)).toBe(1);
    expect(allowance.wait(4_000)).toBe(0);
  });

  it('is counted once for concurrent requests', () => {
    const [one, many] = [1, 50].map((count) => {
      const allowance = new RequestTimeBucket({ share: () => 0.5, reserve: 100 });
      for (let at = 0; at < count; at++) allowance.begin(0);
      for (let at = 0; at < count; at++) allowance.end(1_000);
      return allowance.wait(1_000);
    });
    expect(many).toBe(one);
  });

  it('never exceeds the reserve, and is unlimited if requests have all of the time', () => {
    const rested = new RequestTimeBucket({ share: () => 0.25, reserve: 100 });
    expect(rested.wait(1e9)).toBe(0);
    rested.begin(1e9);
    expect(rested.wait(1e9 + 200)).toBe(200);
    const alone = new RequestTimeBucket({ share: () => 1, reserve: 0 });
    alone.begin(0);
    expect(alone.wait(1e9)).toBe(0);
  });
});

describe('requests', () => {
  it('that arrive at once start in turns of the event loop, in their order', async () => {
    server = Fastify();
    throttleRequests(server, () => true);
    let turn = 0;
    let over = false;
    const count = () => {
      turn++;
      if (!over) setImmediate(count);
    };
    const started: { readonly name: string; readonly turn: number }[] = [];
    server.get<{ Params: { name: string } }>('/:name', async ({ params: { name } }) => {
      started.push({ name, turn });
      return '';
    });
    await server.ready();
    count();
    const names = Array.from({ length: 50 }, (_, at) => String(at));
    for (let time = 0; time < 2; time++) {
      started.length = 0;
      const answers = await Promise.all(names.map((name) => sendRequest(`/${name}`)));
      expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true);
      expect(started.map(({ name }) => name)).toEqual(names);
      expect(new Set(started.map((one) => one.turn)).size).toBe(names.length);
    }
    over = true;
  });

  it('wait while their time is used up, and clients are served in turn', async () => {
    const { started, startedAndReleased } = await createHoldingServer(
      new RequestThrottle({ ...usual, share: () => 0.9 }),
    );
    const crowd = ['a', 'b', 'c'].map((name) => sendRequest(`/${name}`));
    await expect.poll(() => started).toEqual(['a']);
    const person = sendRequest('/person', '10.0.0.2');
    await expect.poll(startedAndReleased).toBe(4);
    await Promise.all([...crowd, person]);
    expect(started).toEqual(['a', 'b', 'person', 'c']);
  });

  it('that wait too long, or exceed the queue, are refused as busy', async () => {
    const pace = new RequestThrottle({ ...usual, share: () => 1e-3, waiting: 2, maxWaitMs: 50 });
    const { started, release, refused } = await createHoldingServer(pace);
    const first = sendRequest('/first');
    await expect.poll(() => started).toEqual(['first']);
    release();
    await first;
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => sendRequest(`/${name}`)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([503, 503, 503]);
    expect(started).toEqual(['first']);
    expect(refused.every((one) => one instanceof TooManyReadsError)).toBe(true);
    expect(refused.map(({ message }) => message)).toEqual([
      expect.stringContaining('2 requests are waiting'),
      expect.stringContaining('was queued for more than'),
      expect.stringContaining('was queued for more than'),
    ]);
    await expect(pace.acquireTurn('10.0.0.1')).rejects.toThrow(TooManyReadsError);
  });

  it.each([
    ['programs that watch the recorder', 'reader', '/page', ['/health', '/ready', '/metrics']],
    ['load balancers and service managers', 'scrape', '/metrics', ['/health', '/ready']],
  ])('of %s do not wait for %s', async (_, __, slow, watched) => {
    server = Fastify();
    throttleRequests(server, () => true);
    let release = (_: string) => {};
    const blocked = new Promise<string>((resolve) => {
      release = resolve;
    });
    let started = 0;
    server.get(slow, () => {
      started += 1;
      return blocked;
    });
    for (const path of watched) server.get(path, async () => '');
    await server.ready();
    const crowd = Array.from({ length: 200 }, () => sendRequest(slow));
    // The others wait by now: inject() starts its requests after it returns.
    await expect.poll(() => started).toBeGreaterThan(0);
    const answers = await Promise.all(watched.map((path) => sendRequest(path)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(watched.map(() => 200));
    release('');
    await Promise.all(crowd);
  });

  it('are limited in number, whatever their reserve', async () => {
    const { started, release, startedAndReleased } = await createHoldingServer(
      new RequestThrottle({ ...usual, atOnce: 2, reserve: 60_000, counted: 60_000 }),
    );
    const all = ['a', 'b', 'c', 'd'].map((name) => sendRequest(`/${name}`));
    await expect.poll(() => started).toEqual(['a', 'b']);
    // Ten turns later there are no more.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(started).toEqual(['a', 'b']);
    release();
    await expect.poll(startedAndReleased).toBe(4);
    await Promise.all(all);
  });

  it('of closed connections do not start', async () => {
    const { started, startedAndReleased } = await createHoldingServer(new RequestThrottle(usual));
    const first = sendRequest('/first');
    await expect.poll(() => started).toEqual(['first']);
    const leaving = new AbortController();
    const abandoned = server.inject({ url: '/left', signal: leaving.signal }).catch(() => null);
    const next = sendRequest('/next');
    leaving.abort();
    await abandoned;
    await expect.poll(startedAndReleased).toBe(2);
    await Promise.all([first, next]);
    expect(started).toEqual(['first', 'next']);
  });
});
