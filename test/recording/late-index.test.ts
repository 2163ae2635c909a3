import fc from 'fast-check';
import { expect } from 'vitest';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { stakingTransactions } from '../../src/datasets/chain-data/staking-transactions.ts';
import type { Target } from '../../src/datasets/contract.ts';
import { loadStates, planAll, planDue } from '../../src/recording/plan.ts';
import { record } from '../../src/recording/record.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { type LateBlock, LateIndex } from '../support/late-index.ts';
import { recordingContext, scriptedFeed } from '../support/recording.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 10);

const { it, sql } = withDatabase({ max: 4 });

/** Datasets that are read from an index: by time in windows, by time as one list, by height. */
const datasets = {
  proposed_blocks: { dataset: proposedBlocks, axis: 'time' },
  staking_transactions: { dataset: stakingTransactions, axis: 'time' },
  native_transactions: { dataset: nativeTransactions, axis: 'height' },
} as const;
type Name = keyof typeof datasets;

let targets = 0;

/** Records a target of its own from a late index. */
async function recorder(
  blocks: readonly LateBlock[],
  every: number,
  { page = 100, name = 'proposed_blocks' }: { page?: number; name?: Name } = {},
) {
  const { dataset, axis } = datasets[name];
  const { range } = dataset.source;
  if (!range) throw new Error(`${name} has no range`);
  targets += 1;
  const target: Target = {
    proposed_blocks: { network: `n${targets}`, blockchainId: 'p-chain', nodeId: 'NodeID-1' },
    staking_transactions: { network: `n${targets}`, addresses: 'avax1' },
    native_transactions: { chainId: `n${targets}`, address: '0x1' },
  }[name];
  const clock = new ManualClock(start);
  const index = new LateIndex(blocks, clock.read, page);
  const lookback = axis === 'time' ? 2 * day : range.lookback;
  const feed = scriptedFeed(dataset, target, { range: { ...range, lookback }, every });
  feed.script = (window, ask) => dataset.source.walk(ask, target, window);
  const context = recordingContext(sql, clock.read, index.ask);
  const { signal } = new AbortController();
  await registerTargets(sql, feed, clock.now);
  const recorded = async (): Promise<ReadonlySet<number>> => {
    const rows = await sql<{ number: number }[]>`
      select block_number::int as number from ${sql(`recorder.${name}`)}
      where ${sql(axis === 'time' ? 'network' : 'chain_id')} = ${`n${targets}`}`;
    return new Set(rows.map(({ number }) => number));
  };
  return {
    clock,
    index,
    recorded,
    /** One tick of `up` with everything that follows from it, or one `record` from cron. */
    async poll(by: 'up' | 'record') {
      for (let rounds = 0; ; rounds += 1) {
        const states = await loadStates(sql, feed);
        const jobs =
          by === 'up' ? planDue(feed, states, clock.now) : planAll(feed, feed.targets, states, clock.now);
        for (const job of jobs)
          expect(await record(context, feed, job, signal)).toMatchObject({ status: 'done' });
        if (by === 'record' || jobs.length === 0) return;
        expect(rounds).toBeLessThan(20);
      }
    },
    /** The blocks that were made, are not recorded, and are claimed as covered. */
    async wronglyClaimed(): Promise<readonly LateBlock[]> {
      const known = await recorded();
      const missing = blocks.filter(({ number, at }) => at <= clock.now && !known.has(number));
      const places = missing.map(({ number, at }) => (axis === 'time' ? at : number));
      const rows = await sql<{ place: string }[]>`
        select m.place from recorder.coverage c, unnest(${places}::bigint[]) as m(place)
        where c.dataset = ${name} and c.target_key = ${targetKey(target)} and c.covered @> m.place`;
      const claimed = new Set(rows.map(({ place }) => Number(place)));
      return missing.filter((_, at) => claimed.has(places[at] ?? -1));
    },
  };
}

const hourly = (count: number, late: (number: number, at: number) => number): LateBlock[] =>
  Array.from({ length: count }, (_, number) => {
    const at = start + number * hour;
    return { number, at, shownAt: at + late(number, at) };
  });

const numbers = (blocks: readonly LateBlock[]) => blocks.map(({ number }) => number);

it.each([
  ['up', 'proposed_blocks'],
  ['record', 'proposed_blocks'],
  ['up', 'staking_transactions'],
  ['record', 'native_transactions'],
] as const)(
  'what an index shows 24 hours late is recorded by the polls of %s, and not claimed before: %s',
  async (by, name) => {
    const all = hourly(72, () => day);
    const { clock, poll, recorded, wronglyClaimed } = await recorder(all, 6 * hour, { name });
    for (; clock.now < start + 5 * day; clock.now += 6 * hour) {
      await poll(by);
      expect(await wronglyClaimed()).toEqual([]);
    }
    expect([...(await recorded())].sort((a, b) => a - b)).toEqual(numbers(all));
  },
);

it('blocks that one page does not hold any more are recorded by the sweep of the day', async () => {
  // Every fourth block is shown 60 hours after the others, which fill more than a page meanwhile.
  const all = hourly(96, (number) => (number % 4 === 0 ? 60 * hour : 0));
  const { clock, poll, recorded, wronglyClaimed } = await recorder(all, 3 * hour, { page: 10 });
  for (; clock.now < start + 8 * day; clock.now += 3 * hour) {
    await poll('up');
    expect(await wronglyClaimed()).toEqual([]);
  }
  expect((await recorded()).size).toBe(all.length);
});

it('blocks of a stall of 20 days are recorded within a day of its end', async () => {
  const stalled = { from: start + 2 * day, to: start + 22 * day };
  const all = hourly(25 * 24, (_, at) => (at >= stalled.from && at < stalled.to ? stalled.to - at : 0));
  const { clock, poll, recorded, wronglyClaimed } = await recorder(all, 12 * hour, { page: 40 });
  for (; clock.now < start + 26 * day; clock.now += 12 * hour) {
    await poll('record');
    expect(await wronglyClaimed()).toEqual([]);
    if (clock.now >= stalled.to + day)
      expect((await recorded()).size).toBe(all.filter(({ at }) => at <= clock.now).length);
  }
});

/** An index that shows everything up to a moment, stalls there, and catches up to another moment. */
const asWhole = fc
  .array(fc.record({ stalls: fc.integer({ min: 1, max: 48 }), trails: fc.integer({ min: 0, max: 24 }) }), {
    minLength: 3,
    maxLength: 12,
  })
  .map((phases) => {
    let now = start;
    const steps = phases.map(({ stalls, trails }) => {
      now += stalls * hour;
      return { now, showsTo: now - trails * hour };
    });
    return (at: number) => steps.find(({ showsTo }) => showsTo >= at)?.now ?? Math.max(at, now);
  });

/** An index that shows each item after a time of its own, so that older items appear after newer ones. */
const itemByItem = fc
  .array(fc.integer({ min: 0, max: 72 }), { minLength: 7, maxLength: 60 })
  .map((delays) => (at: number, number: number) => at + (delays[number % delays.length] ?? 0) * hour);

const scenario = fc.record({
  intervals: fc.array(fc.integer({ min: 5, max: 600 }), { minLength: 20, maxLength: 80 }),
  shownAt: fc.oneof(asWhole, itemByItem),
  by: fc.constantFrom('up' as const, 'record' as const),
  every: fc.constantFrom(2, 5, 11, 24).map((hours) => hours * hour),
  page: fc.constantFrom(5, 20, 100),
  name: fc.constantFrom(
    'proposed_blocks' as const,
    'staking_transactions' as const,
    'native_transactions' as const,
  ),
});

it('whatever an index trails, nothing missing is claimed, and after the last poll and a day of sweeps nothing is missing', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ intervals, shownAt, by, every, page, name }) => {
      let at = start - day;
      const blocks = intervals.map((minutes, number): LateBlock => {
        at += minutes * minute;
        return { number, at, shownAt: shownAt(at, number) };
      });
      const caughtUp = Math.max(...blocks.map((one) => one.shownAt));
      const { clock, poll, recorded, wronglyClaimed } = await recorder(blocks, every, { page, name });
      for (; clock.now < caughtUp; clock.now += every) {
        await poll(by);
        expect(await wronglyClaimed()).toEqual([]);
      }
      await poll(by); // the last one of an index that trailed
      for (const swept = clock.now + day; clock.now < swept; ) {
        clock.now += every;
        await poll(by);
      }
      expect([...(await recorded())].sort((a, b) => a - b)).toEqual(numbers(blocks));
      expect(await wronglyClaimed()).toEqual([]);
    }),
    { numRuns: 5, seed: 20261126 },
  );
});

it('a stall is reported from the times of the items that the polls showed, until the index catches up', async () => {
  await sql`update recorder.target_datasets set active = false`; // those of other tests
  const stalled = { from: start + 2 * day, to: start + 4 * day };
  const all = hourly(6 * 24, (_, at) => (at >= stalled.from && at < stalled.to ? stalled.to - at : 0));
  const { clock, poll } = await recorder(all, 6 * hour);
  const reported: number[] = [];
  for (; clock.now < start + 6 * day; clock.now += 6 * hour) {
    await poll('record');
    const findings = await sql<{ since: Date }[]>`
      select since from reporting.findings where what = 'index-stalled'`;
    expect(findings.length).toBeLessThanOrEqual(1);
    for (const { since } of findings) {
      expect(since.getTime()).toBe(stalled.from - hour);
      reported.push(clock.now);
    }
  }
  expect([reported[0], reported.at(-1)]).toEqual([stalled.from + 12 * hour, stalled.to - 6 * hour]);
});
