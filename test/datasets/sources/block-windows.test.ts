import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { nativeTransactions } from '../../../src/datasets/chain-data/native-transactions.ts';
import { OPEN_END, type Window } from '../../../src/datasets/contract.ts';
import { getMember } from '../../../src/datasets/sources/answer.ts';
import { withDefaultSettings } from '../../../src/recording/active-feed.ts';
import { loadStates, planDue } from '../../../src/recording/plan.ts';
import { record } from '../../../src/recording/record.ts';
import { registerTargets } from '../../../src/recording/register.ts';
import { targetKey } from '../../../src/recording/target-key.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { recordingContext } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase();

const now = Date.UTC(2026, 0, 10);
const hour = 3600;
const year = 365 * 24 * hour;
const target = { chainId: '43114', address: '0xa' };
const ABSURD = '9007199254740000';

/** A transaction in a block of this many seconds ago. */
const tx = (blockNumber: number | string, ago: number, more: object = {}) => ({
  ...nativeTransactions.example,
  blockNumber: `${blockNumber}`,
  blockTimestamp: now / 1000 - ago,
  txHash: `0x${blockNumber}`,
  ...{ from: null, to: null },
  ...more,
});

/** The responses of a list, newest first: pages of this size, in a window of blocks. */
function listOf(items: () => readonly object[], pageSize = 100) {
  return async (_path: string, query: Readonly<Record<string, string | number | undefined>> = {}) => {
    const { startBlock = 0, endBlock = OPEN_END, pageToken = 0 } = query;
    const within = items().filter((item) => {
      const block = Number(getMember(item, 'blockNumber'));
      return block >= Number(startBlock) && block < Number(endBlock);
    });
    const next = Number(pageToken) + pageSize;
    return {
      transactions: within.slice(Number(pageToken), next),
      ...(next < within.length ? { nextPageToken: `${next}` } : {}),
    };
  };
}

/** The coverage that the pages of a walk prove, in order. */
async function proven(items: readonly object[], { from = 0, pageSize = 100 } = {}) {
  const refuse = () => Promise.reject(new Error('unexpected request'));
  const client = {
    get: listOf(() => items, pageSize),
    post: refuse,
    rpc: refuse,
    probe: refuse,
    pageSize: (max: number) => max,
    now,
  };
  const walked: (Window | null)[] = [];
  for await (const page of nativeTransactions.source.walk(client, target, { from, to: OPEN_END })) {
    walked.push(page.proven);
    claimable.push(page.claimable);
  }
  return walked;
}

/** The ends of the provable coverage after each page of the walks. */
const claimable: (number | undefined)[] = [];

describe('the newest page of an index by blocks', () => {
  it('proves up to the newest block that a newer one confirms', async () => {
    expect(await proven([tx(900, 1), tx(800, 90), tx(800, 90), tx(700, 200)])).toEqual([
      { from: 0, to: 801 },
    ]);
    expect(await proven([tx(900, 1), tx(800, 2 * year)])).toEqual([{ from: 0, to: 801 }]);
  });

  it('proves up to the newest confirmed block that is 14 days old', async () => {
    const day = 24 * hour;
    const items = [tx(900, 1), tx(800, 13 * day), tx(700, 15 * day), tx(600, 40 * day)];
    const endsOf = async (of: readonly object[], pageSize = 100) => {
      claimable.length = 0;
      await proven(of, { pageSize });
      return [...claimable];
    };
    expect(await endsOf(items)).toEqual([701]);
    expect(await endsOf(items, 2)).toEqual([undefined, 701]);
    expect(await endsOf(items.slice(0, 2))).toEqual([undefined]);
    expect(await endsOf([tx(ABSURD, 20 * day), ...items.slice(2)])).toEqual([601]);
  });

  it('proves nothing if all items have one block', async () => {
    expect(await proven([])).toEqual([null]);
    expect(await proven([tx(900, 1)])).toEqual([null]);
    expect(await proven([tx(ABSURD, 1), tx(ABSURD, 1)])).toEqual([null]);
  });

  it.each([
    ['one', [tx(ABSURD, 1)]],
    ['many over years', [tx(ABSURD, 1), tx('9007199254730000', year), tx('1700000000000', 2 * year)]],
    ['one without a time', [tx(ABSURD, 1, { blockTimestamp: null }), tx('1700000000000', 1)]],
  ])('ignores absurd numbers: %s', async (_, absurd) => {
    const items = [tx(7_000_900, 10), tx(7_000_800, 90), tx(7_000_100, 5 * hour)];
    for (const pageSize of [100, 1])
      expect((await proven([...absurd, ...items], { pageSize })).at(-1)).toEqual({ from: 0, to: 7_000_801 });
    expect(await proven([...absurd, ...items], { from: 7_000_081 })).toEqual([
      { from: 7_000_081, to: 7_000_801 },
    ]);
  });

  it('is not blocked by one block that is too low, or by a time in the future', async () => {
    const items = [tx(7_000_900, 10), tx(7_000_800, 90)];
    expect(await proven([...items, tx(5, 30 * 24 * hour)])).toEqual([{ from: 0, to: 7_000_801 }]);
    expect(await proven([tx(7_000_950, -year), ...items])).toEqual([{ from: 0, to: 7_000_901 }]);
  });

  it('advances, more slowly, on an extremely fast chain', async () => {
    const height = 1e11;
    const items = Array.from({ length: 60 }, (_, minutes) => tx(height - minutes * 60 * 1_000, minutes * 60));
    const [first] = await proven(items);
    expect(first?.to).toBeGreaterThan(height - 60 * 60 * 1_000);
    expect(first?.to).toBeLessThan(height);
  });

  it('never proves heights above the chain, whatever one item contains, and nearly all of them if none is wrong', async () => {
    const steps = fc.array(
      fc.record({ blocks: fc.integer({ min: 0, max: 5_000 }), seconds: fc.integer({ min: 50, max: year }) }),
      { minLength: 3, maxLength: 12 },
    );
    const wrong = fc.option(
      fc.record({ place: fc.nat(), height: fc.nat({ max: OPEN_END }), ago: fc.nat({ max: 10 * year }) }),
    );
    await fc.assert(
      fc.asyncProperty(steps, wrong, fc.integer({ min: 1, max: 5 }), async (all, lie, pageSize) => {
        let [height, ago] = [10_000_000, 10];
        const truth = all.map(({ blocks, seconds }) => {
          height -= blocks;
          ago += seconds;
          return { height, ago };
        });
        const newest = truth[0]?.height ?? 0;
        const reported = truth.map((one, place) => (lie && place === lie.place % truth.length ? lie : one));
        const items = reported.map(({ height, ago }) => tx(height, ago));
        const claimed = (await proven(items, { pageSize })).map((part) => part?.to ?? 0);
        expect(Math.max(...claimed)).toBeLessThanOrEqual(newest + 1);
        const [, second] = new Set(truth.map(({ height }) => height));
        if (!lie && second !== undefined) expect(claimed.at(-1)).toBe(second + 1);
      }),
    );
  });
});

describe('an address whose newest item has an absurd block', () => {
  it.each([
    ['stored', {}],
    ['in the quarantine', { txStatus: 7 }],
  ])('is polled from the head of the chain, for the item %s', async (_, wrong) => {
    const address = `0x${Object.keys(wrong).length}`;
    const target = { chainId: '43114', address };
    const feed = withDefaultSettings({ source: nativeTransactions.source, datasets: [nativeTransactions] }, [
      target,
    ]);
    const clock = new ManualClock(now);
    const items: object[] = [tx(7_000_900, 10), tx(7_000_800, 90)];
    const context = recordingContext(sql, clock.read, { get: listOf(() => items) });
    const poll = async () => {
      clock.now += hour * 1000;
      for (const job of planDue(feed, await loadStates(sql, feed), clock.now))
        await record(context, feed, job, new AbortController().signal);
    };
    const storedHashes = async () =>
      (
        await sql<{ hash: string }[]>`
          select tx_hash as hash from reporting.native_transactions where address = ${address}`
      ).map(({ hash }) => hash);
    await registerTargets(sql, feed, clock.now);
    items.unshift(tx(ABSURD, 5, wrong));
    await poll();
    items.splice(1, 0, tx(7_002_000, -hour));
    await poll();
    items.splice(1, 0, tx(7_004_000, -2 * hour));
    await poll();
    expect(await storedHashes()).toEqual(expect.arrayContaining(['0x7002000', '0x7004000']));
    const [claimed] = await sql`
      select isempty(covered) as nothing, upper(answered)::float8 as to
      from recorder.coverage where target_key = ${targetKey(target)}`;
    expect(claimed).toEqual({ nothing: true, to: 7_002_001 });
  });
});
