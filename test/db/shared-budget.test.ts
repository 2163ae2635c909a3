import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { budgetKey } from '../../src/db/budget-key.ts';
import { KnownLimits, type Limits, SharedBudget } from '../../src/db/shared-budget.ts';
import type { Priority } from '../../src/upstreams/budget.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, sql } = withDatabase({ max: 10 });

const minute = 60_000;
const hour = 60 * minute;
/** Late in no minute and early in no day: a wait for the next one takes longer than a call. */
const start = Date.UTC(2026, 0, 10, 12);
const signal = new AbortController().signal;
/** A call that is delayed fails at once. */
const stopped = AbortSignal.abort();
let upstreams = 0;

/** Two instances of one upstream's budget, like two processes. */
function createShared(limits: Partial<Limits>, clock = new ManualClock(start)) {
  upstreams += 1;
  const name = `upstream-${upstreams}`;
  const all: Limits = { perMinute: undefined, perDay: undefined, ...limits };
  const instance = (on: ManualClock) =>
    new SharedBudget(sql, { upstream: name, endpoint: 'one' }, all, on.read);
  return { name, clock, one: instance(clock), other: instance(clock), instance };
}

/** Acquires calls until the budget delays one; returns their number, and the delay in ms. */
async function drain(budgets: readonly SharedBudget[], units: number, priority: Priority) {
  for (let granted = 0; ; granted++) {
    const failure = await budgets[granted % budgets.length]
      ?.take(units, priority, stopped)
      .catch((error: unknown) => error);
    if (failure === undefined) continue;
    if (!(failure instanceof UpstreamFailure)) throw failure;
    return { granted, retryAfter: failure.retryAfter };
  }
}

describe('the limits', () => {
  it('of a minute are shared by all processes, and reset with the next one', async () => {
    const { one, other, clock } = createShared({ perMinute: 100 });
    expect((await drain([one, other], 10, 'poll')).granted).toBe(10);
    clock.now += minute;
    expect((await drain([other, one], 10, 'poll')).granted).toBe(10);
  });

  it('of a day are left to the queue: the failure states when they reset', async () => {
    const { one, clock } = createShared({ perDay: 50 });
    expect(await drain([one], 10, 'poll')).toEqual({ granted: 5, retryAfter: 12 * hour });
    clock.now += 12 * hour;
    expect((await drain([one], 10, 'poll')).granted).toBe(5);
  });

  it('reserve calls by priority: backfill stops before healing, healing before polls', async () => {
    const { one, other } = createShared({ perMinute: 100 });
    expect((await drain([one, other], 10, 'backfill')).granted).toBe(6);
    expect((await drain([one, other], 10, 'heal')).granted).toBe(2);
    expect((await drain([one, other], 10, 'poll')).granted).toBe(2);
  });

  it('never block a call that is larger than its share without limit', async () => {
    const { one } = createShared({ perMinute: 100 });
    expect((await drain([one], 90, 'backfill')).granted).toBe(1);
  });

  it('of the response headers apply if they are lower than the declared ones', async () => {
    const { one, other } = createShared({ perMinute: 100 });
    await one.learn({ limit: { units: 30, seconds: 60 }, exhausted: null });
    await other.learn({ limit: { units: 5_000, seconds: 60 }, exhausted: null });
    expect((await drain([one], 10, 'poll')).granted).toBe(3);
    expect((await drain([other], 10, 'poll')).granted).toBe(7);
  });

  it('near zero in headers allow one call, and recover with the next headers', async () => {
    const { one, clock } = createShared({ perMinute: 100 });
    await one.learn({ limit: { units: 1, seconds: 60 }, exhausted: null });
    expect((await drain([one], 10, 'poll')).granted).toBe(1);
    await one.learn({ limit: { units: 40, seconds: 60 }, exhausted: null });
    expect((await drain([one], 10, 'poll')).granted).toBe(3);
    await one.learn({ limit: { units: 5_000, seconds: 60 }, exhausted: null });
    expect((await drain([one], 10, 'poll')).granted).toBe(6);
    await one.learn({ limit: { units: 1, seconds: 60 }, exhausted: null });
    clock.now += minute;
    expect((await drain([one], 10, 'poll')).granted).toBe(10);
  });

  it('of a day near zero in headers are tested again, long before the day ends', async () => {
    const { one, clock } = createShared({ perDay: 1_000 });
    await one.learn({ limit: { units: 1, seconds: 86_400 }, exhausted: null });
    expect(await drain([one], 10, 'poll')).toEqual({ granted: 1, retryAfter: 600_000 });
    clock.now += 600_000;
    await one.take(10, 'poll', signal);
    await one.learn({ limit: { units: 40, seconds: 86_400 }, exhausted: null });
    expect((await drain([one], 10, 'poll')).granted).toBe(2);
  });

  it('do not exist if none is declared', async () => {
    const { one, name } = createShared({});
    const manyCalls = new AbortController();
    for (let calls = 0; calls < 50; calls++) await one.take(1_000, 'backfill', manyCalls.signal);
    expect(await sql`select 1 from recorder.budgets where upstream = ${name}`).toHaveLength(0);
  });

  it('hold in every minute, for any callers', async () => {
    const requests = fc.array(
      fc.record({
        units: fc.integer({ min: 1, max: 40 }),
        priority: fc.constantFrom<Priority[]>('poll', 'heal', 'backfill'),
      }),
      { minLength: 1, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(requests, async (all) => {
        const { instance, clock, name } = createShared({ perMinute: 100 });
        const grants = await Promise.all(
          all.map(({ units, priority }) =>
            instance(clock)
              .take(units, priority, stopped)
              .then(
                () => units,
                () => 0,
              ),
          ),
        );
        const total = grants.reduce((sum, units) => sum + units, 0);
        expect(total).toBeLessThanOrEqual(100);
        const [row] =
          await sql`select minute_units::int as units from recorder.budgets where upstream = ${name}`;
        expect(row?.units).toBe(total);
      }),
      { numRuns: 10 },
    );
  });
});

describe('a known limit', () => {
  /** An event of a limit: time passes, or the upstream reports a value. */
  const events = fc.array(
    fc.oneof(
      fc.record({ passes: fc.integer({ min: -5_000, max: 700_000 }) }),
      fc.record({ units: fc.integer({ min: 1, max: 200 }), seconds: fc.constantFrom(1, 60, 3_600, 86_400) }),
    ),
    { maxLength: 12 },
  );
  const declared = fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined });

  it('is the smaller of the declared and the last recently reported one', () => {
    fc.assert(
      fc.property(declared, events, (units, all) => {
        const limits = new KnownLimits({ perMinute: units, perDay: units });
        const reports: { units: number; seconds: number; at: number }[] = [];
        let now = start;
        for (const event of all) {
          if ('passes' in event) now += event.passes;
          else reports.push({ ...event, at: now });
          if ('units' in event) limits.noteAnnouncedLimit(event, now);
          for (const [limit, seconds, believed] of [
            [limits.perMinute(now), 60, 60_000],
            [limits.perDay(now), 86_400, 600_000],
          ] as const) {
            const last = reports.findLast((one) => one.seconds === seconds);
            const holds = last && now >= last.at && now - last.at < believed;
            const least = Math.min(
              ...[units, holds ? last.units : undefined].filter((one) => one !== undefined),
            );
            expect(limit?.units).toBe(least === Number.POSITIVE_INFINITY ? undefined : least);
            if (limit && limit.lasts < Number.POSITIVE_INFINITY)
              expect(limit.lasts).toBe((last?.at ?? 0) + believed - now);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a pause', () => {
  it.each([{ perMinute: 100 }, {}])('holds for all processes, with limits %j', async (limits) => {
    const { one, other, clock } = createShared(limits);
    await one.take(1, 'poll', signal);
    await one.block(120_000, 'retry-after: 120');
    for (const budget of [one, other])
      await expect(budget.take(1, 'poll', signal)).rejects.toMatchObject({
        kind: 'rate-limited',
        message: expect.stringMatching(
          /^no call to upstream-\d+ is allowed for 120 s: the upstream sent retry-after: 120$/,
        ),
      });
    clock.now += 120_000;
    for (const budget of [one, other]) await budget.take(1, 'poll', signal);
  });

  it.each([{ perMinute: 100 }, {}])(
    'ends with its URL, and so does a count, with limits %j',
    async (limits) => {
      const { name } = createShared({});
      const all: Limits = { perMinute: undefined, perDay: undefined, ...limits };
      const clock = new ManualClock(start);
      const budgetOf = (url: string, header?: string) =>
        new SharedBudget(sql, budgetKey(name, url, header), all, clock.read);
      const before = budgetOf('https://one.example/v1', 'X-Key');
      await before.take(90, 'poll', signal);
      await before.block(120_000, 'retry-after: 120');
      for (const same of [budgetOf('https://ONE.example:443/v2/', 'x-key'), before])
        await expect(same.take(20, 'poll', signal)).rejects.toMatchObject({ kind: 'rate-limited' });
      for (const other of [
        budgetOf('https://two.example/v1', 'X-Key'),
        budgetOf('https://one.example/v1'),
        budgetOf('http://one.example/v1', 'X-Key'),
      ])
        await other.take(20, 'poll', signal);
    },
  );

  it('is visible within a second to a caller that is just waiting', async () => {
    const { one, other, clock } = createShared({});
    await other.take(1, 'poll', signal);
    await one.block(120_000, 'retry-after: 120');
    clock.now += 1_000;
    await expect(other.take(1, 'poll', signal)).rejects.toMatchObject({ kind: 'rate-limited' });
  });

  it('is not shortened by a later, shorter one', async () => {
    const { one, other, clock } = createShared({ perMinute: 100 });
    await one.block(600_000, 'retry-after: 120');
    await other.block(1_000, 'retry-after: 120');
    clock.now += 300_000;
    await expect(other.take(1, 'poll', signal)).rejects.toMatchObject({ retryAfter: 300_000 });
  });

  it('is waited for if it is short', async () => {
    const real = new SharedBudget(
      sql,
      budgetKey('waited', 'http://one', undefined),
      { perMinute: 100, perDay: undefined },
      Date.now,
    );
    await real.block(300, 'retry-after: 120');
    const started = performance.now();
    await real.take(1, 'poll', signal);
    expect(performance.now() - started).toBeGreaterThan(250);
  });

  it('ends the waiting of a stopped run', async () => {
    const { one } = createShared({ perMinute: 100 });
    await one.block(60_000, 'retry-after: 120');
    const stop = new AbortController();
    const waiting = one.take(1, 'poll', stop.signal);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it.each([{ perMinute: 100 }, {}])(
    'from a clock that was hours ahead blocks no caller, and hides no valid one, with limits %j',
    async (limits) => {
      const { one, clock, instance } = createShared(limits);
      const ahead = instance(new ManualClock(start + 2 * hour));
      await ahead.block(30_000, 'retry-after: 120');
      await one.take(1, 'poll', signal);
      await one.block(120_000, 'retry-after: 120');
      clock.now += 2_000;
      await expect(instance(clock).take(1, 'poll', signal)).rejects.toMatchObject({ kind: 'rate-limited' });
    },
  );
});
