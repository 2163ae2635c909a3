import { expect, it } from 'vitest';
import { memoizeWithTtl, proportionalTtl } from '../../src/server/memoize-with-ttl.ts';
import { gate } from '../support/scripted-feed.ts';

it('computes once for all concurrent callers, and keeps the result for a while', async () => {
  const gates = [gate<number>(), gate<number>()];
  let computed = 0;
  const cached = memoizeWithTtl(async () => gates[computed++]?.opened, 60_000);
  const calls = Array.from({ length: 20 }, cached);
  gates[0]?.open(7);
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 20 }, () => 7));
  expect(await cached()).toBe(7);
  expect(computed).toBe(1);
});

it('throws an error to all callers, and tries again', async () => {
  let computed = 0;
  const cached = memoizeWithTtl(() => Promise.reject(new Error(`away ${++computed}`)), 0);
  const calls = [cached(), cached()].map((one) => one.catch((error: unknown) => error));
  expect(await Promise.all(calls)).toEqual([new Error('away 1'), new Error('away 1')]);
  await expect(cached()).rejects.toThrow('away 2');
});

it('keeps an error for a shorter time than a result', async () => {
  let computed = 0;
  const cached = memoizeWithTtl(async () => {
    computed += 1;
    if (computed === 1) throw new Error('away');
    return computed;
  }, 3_600_000);
  await expect(cached()).rejects.toThrow('away');
  await expect.poll(() => cached().catch(() => 0)).toBe(2);
});

it('keeps a slow result for longer, in proportion', async () => {
  const durations: number[] = [];
  let computed = 0;
  const cached = memoizeWithTtl(
    async () => ++computed,
    (ms) => {
      durations.push(ms);
      return 3_600_000;
    },
  );
  await cached();
  await expect.poll(() => durations).toHaveLength(1);
  expect(await cached()).toBe(1);
  const ttl = proportionalTtl(1_000);
  expect([ttl(0), ttl(250), ttl(3_000)]).toEqual([1_000, 1_000, 12_000]);
});
