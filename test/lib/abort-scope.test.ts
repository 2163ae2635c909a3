import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { AbortScope } from '../../src/lib/abort-scope.ts';
import { callOnce } from '../../src/upstreams/http.ts';
import { sendJson, upstreamServer } from '../support/upstream-server.ts';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('the scope of a task', () => {
  it('aborts with its parent, for the same reason', () => {
    const whole = new AbortController();
    const work = new AbortScope(whole.signal, 60_000);
    whole.abort('stopped');
    expect([work.signal.reason, work.timedOut]).toEqual(['stopped', false]);
    work.end();
    expect(new AbortScope(whole.signal).signal.aborted, 'one that starts later').toBe(true);
  });

  it('aborts alone, and at its deadline', async () => {
    const whole = new AbortController();
    const [aborted, late] = [new AbortScope(whole.signal, 60_000), new AbortScope(whole.signal, 1)];
    aborted.abort();
    await expect.poll(() => late.signal.aborted).toBe(true);
    expect([aborted.signal.aborted, aborted.timedOut, late.timedOut]).toEqual([true, false, true]);
    expect(whole.signal.aborted).toBe(false);
    for (const work of [aborted, late]) work.end();
    expect(listeners(whole.signal)).toBe(0);
  });

  it('has no deadline any more once it ended', async () => {
    const work = new AbortScope(new AbortController().signal, 1);
    work.end();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(work.signal.aborted).toBe(false);
  });
});

describe('100,000 calls under one long-lived signal', () => {
  const closers: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closers) await close();
  });

  it('leave no listener on it, and no heap growth', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const whole = new AbortController();
    const inUse = async (calls: number) => {
      for (let call = 0; call < calls; call++) {
        const work = new AbortScope(whole.signal, 30_000);
        if (call % 3 === 0) work.abort();
        work.end();
        if (call % 1_000 === 0) await new Promise(setImmediate);
      }
      collect();
      return process.memoryUsage().heapUsed;
    };
    const [early, late] = [await inUse(20_000), await inUse(80_000)];
    expect(listeners(whole.signal)).toBe(0);
    // 80,000 remaining listeners would take more than 30 MB.
    expect(late - early).toBeLessThan(8_000_000);
  });

  it('over HTTP leave no listener either, whether they are answered, refused or aborted', async () => {
    const whole = new AbortController();
    const server = await upstreamServer(({ number }, response) => {
      if (number % 3 === 0) response.destroy();
      else if (number % 3 === 1) sendJson(response, {});
    });
    closers.push(() => server.close());
    const call = (deadline: number) =>
      callOnce({
        method: 'GET',
        url: new URL(server.url),
        headers: {},
        deadline,
        maxBytes: 1000,
        signal: whole.signal,
      }).catch(() => {});
    for (let calls = 0; calls < 30; calls++) await call(50);
    expect(listeners(whole.signal)).toBe(0);
  });
});
