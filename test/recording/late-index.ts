import fc from 'fast-check';
import type postgres from 'postgres';
import { expect } from 'vitest';
import { erc1155Transfers } from '../../src/datasets/chain-data/erc1155-transfers.ts';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { stakingTransactions } from '../../src/datasets/chain-data/staking-transactions.ts';
import type { Target } from '../../src/datasets/contract.ts';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { toErrorMessage } from '../../src/lib/errors.ts';
import { loadStates, planAll, planDue } from '../../src/recording/plan.ts';
import { record } from '../../src/recording/record.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { ManualClock } from '../support/clock.ts';
import { type Answers, heightOf, type LateBlock, LateIndex } from '../support/late-index.ts';
import { recordingContext, scriptedFeed } from '../support/scripted-feed.ts';

const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;
export const start = Date.UTC(2026, 0, 10);

/** Every dataset that is read from an index, and the number of a row's item in SQL. `n` is the number of the target. */
const datasets = {
  proposed_blocks: {
    dataset: proposedBlocks,
    number: `substr(block_hash, 6)::int`,
    target: (n: string): Target => ({ network: n, blockchainId: 'p-chain', nodeId: 'NodeID-1' }),
  },
  staking_transactions: {
    dataset: stakingTransactions,
    number: `substr(tx_hash, 3)::int`,
    target: (n: string): Target => ({ network: n, addresses: 'avax1' }),
  },
  native_transactions: {
    dataset: nativeTransactions,
    number: `substr(tx_hash, 3)::int`,
    target: (n: string): Target => ({ chainId: n, address: '0x1' }),
  },
  erc1155_transfers: {
    dataset: erc1155Transfers,
    number: `substr(tx_hash, 3)::int`,
    target: (n: string): Target => ({ chainId: n, address: '0x1' }),
  },
  metric_points: {
    dataset: metricPoints,
    number: `value::int`,
    target: (n: string): Target => ({ chainId: n, metric: 'txCount', timeInterval: 'hour' }),
  },
} as const;
export type IndexedDataset = keyof typeof datasets;
export const indexedDatasets = Object.values(datasets).map(({ dataset }) => dataset);

let targets = 0;

/** Recording of a target from a late index. */
export interface LateIndexOptions extends Partial<Answers> {
  readonly name?: IndexedDataset;
  /** Some runs may fail. Default: all must be complete. */
  readonly mayFail?: boolean;
  /** Duration of each call, ms. */
  readonly callDurationMs?: number;
}

/** Records a target of its own from a late index. @param every interval of the polls, ms */
export async function createLateIndexRecorder(
  sql: postgres.Sql,
  blocks: readonly LateBlock[],
  every: number,
  {
    page = 100,
    name = 'proposed_blocks',
    mayFail = false,
    callDurationMs = 0,
    ...answers
  }: LateIndexOptions = {},
) {
  const { dataset, number, target: targetOf } = datasets[name];
  const { range } = dataset.source;
  if (!range) throw new Error(`${name} has no range`);
  targets += 1;
  const targetName = `n${targets}`;
  const target = targetOf(targetName);
  const clock = new ManualClock(start);
  // Items that appear during a walk move others over the boundary of its pages if tokens are offsets.
  const statuses = callDurationMs > 0 && answers.tokens === 'offset' ? /^(done|partial)$/ : /^done$/;
  const onCall = () => {
    clock.now += callDurationMs;
  };
  const index = new LateIndex(blocks, clock.read, { page, onCall, ...answers });
  const lookback = range.axis === 'time' ? 2 * day : range.lookback;
  const feed = scriptedFeed(dataset, target, { range: { ...range, lookback }, every });
  feed.script = (window, client) => dataset.source.walk(client, target, window);
  const context = recordingContext(sql, clock.read, index.client);
  const { signal } = new AbortController();
  await registerTargets(sql, feed, clock.now);
  const incompleteReason = async () => {
    const [row] = await sql<{ incomplete_reason: string | null }[]>`
      select incomplete_reason from recorder.target_datasets where dataset = ${name} and target_key = ${targetKey(target)}`;
    return row?.incomplete_reason;
  };
  const selectRecorded = async (): Promise<ReadonlySet<number>> => {
    const rows = await sql<{ number: number }[]>`
      select ${sql.unsafe(number)} as number from ${sql(name === 'metric_points' ? 'reporting.metric_points' : `recorder.${name}`)}
      where ${sql(dataset.request[0] === 'network' ? 'network' : 'chain_id')} = ${targetName}`;
    return new Set(rows.map((row) => row.number));
  };
  return {
    clock,
    index,
    key: targetKey(target),
    selectRecorded,
    /** One tick of `up` with everything that follows from it, or one `record` from cron. */
    async poll(by: 'up' | 'record') {
      for (let rounds = 0; ; rounds += 1) {
        const states = await loadStates(sql, feed);
        const jobs =
          by === 'up' ? planDue(feed, states, clock.now) : planAll(feed, feed.targets, states, clock.now);
        for (const job of jobs) {
          const result = await record(context, feed, job, signal);
          if (!mayFail) expect(result).toMatchObject({ status: expect.stringMatching(statuses) });
          if (!mayFail && typeof result === 'object' && result.status === 'partial')
            expect(await incompleteReason()).toBe('a list contains a key twice: nothing is retired');
        }
        if (by === 'record' || jobs.length === 0) return;
        expect(rounds).toBeLessThan(20);
      }
    },
    /** The items that exist and are not recorded, and those of them that are claimed as covered. */
    async missing(): Promise<{ readonly all: readonly LateBlock[]; readonly claimed: readonly LateBlock[] }> {
      const recordedNumbers = await selectRecorded();
      const all = blocks.filter(({ number, at }) => at <= clock.now && !recordedNumbers.has(number));
      const positions = all.map((one) => (range.axis === 'time' ? one.at : heightOf(one)));
      const rows = await sql<{ place: string }[]>`
        select m.place from recorder.coverage c, unnest(${positions}::bigint[]) as m(place)
        where c.dataset = ${name} and c.target_key = ${targetKey(target)} and c.covered @> m.place`;
      const claimed = new Set(rows.map(({ place }) => Number(place)));
      return { all, claimed: all.filter((_, at) => claimed.has(positions[at] ?? -1)) };
    },
  };
}

/** The numbers of some items, sorted. */
export const numbers = (blocks: readonly LateBlock[]) => blocks.map(({ number }) => number);

/** An index that shows everything up to a moment, stalls there, and catches up to another moment. */
const jointDelay = fc
  .array(fc.record({ stalls: fc.integer({ min: 1, max: 72 }), trails: fc.integer({ min: 0, max: 24 }) }), {
    minLength: 3,
    maxLength: 12,
  })
  .map((phases) => {
    let now = start;
    const steps = phases.map(({ stalls, trails }) => {
      now += stalls * hour;
      return { now, shownUntil: now - trails * hour };
    });
    return (at: number) =>
      Math.min(
        steps.find(({ shownUntil: showsTo }) => showsTo >= at)?.now ?? Math.max(at, now),
        at + 3 * day, // no index trails by more
      );
  });

/** An index that shows each item after a delay of its own, so that older items appear after newer ones. */
const separateDelays = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 72 * 60 }), fc.constantFrom(72 * 60 - 2, 72 * 60)), {
    minLength: 7,
    maxLength: 60,
  })
  .map((delays) => (at: number, number: number) => at + (delays[number % delays.length] ?? 0) * minute);

/** Calls that fail: a token expired, or the service is down. */
const failure = fc.record({
  every: fc.integer({ min: 2, max: 9 }),
  kind: fc.constantFrom('dead-token' as const, 'server' as const),
});

const scenario = fc
  .record({
    intervals: fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 20, maxLength: 60 }),
    itemsOfBlock: fc.integer({ min: 1, max: 3 }),
    joint: jointDelay,
    separate: separateDelays,
    isJoint: fc.boolean(),
    by: fc.constantFrom('up' as const, 'record' as const),
    every: fc.constantFrom(3, 5, 11, 24).map((hours) => hours * hour),
    page: fc.constantFrom(2, 5, 20, 100),
    tokens: fc.constantFrom('keyset' as const, 'offset' as const),
    oldestFirst: fc.boolean(),
    callDurationMs: fc.constantFrom(0, 1, 3).map((minutes) => minutes * minute),
    fails: fc.option(failure, { freq: 2 }),
    name: fc.constantFrom<IndexedDataset>(
      'proposed_blocks',
      'staking_transactions',
      'native_transactions',
      'erc1155_transfers',
      'metric_points',
    ),
  })
  .map(({ intervals, itemsOfBlock, joint, separate, isJoint, ...more }) => {
    const isPoints = more.name === 'metric_points';
    // Points of a series start each hour, and are computed one after the other.
    const indexedAt = isPoints || isJoint ? joint : separate;
    let at = start - day;
    let height = 0;
    const blocks = intervals.map((minutes, number): LateBlock => {
      const isNext = number % itemsOfBlock === 0;
      if (isNext) height += 1;
      at += isPoints ? hour : isNext ? minutes * minute : 0;
      return { number, height, at, indexedAt: indexedAt(at, number) };
    });
    return { ...more, blocks };
  });

/** Number of cases that tested each property. */
export interface TestedCases {
  late: number;
  expiredTokens: number;
  pages: number;
}

/** Indexes that are polled concurrently. */
const CONCURRENT_INDEXES = 5;

/**
 * Polls random late indexes. At every moment nothing missing is claimed as covered, and after the last poll of a late
 * index and one day of sweeps the record equals the service.
 * @param indexes number of indexes, a multiple of {@link CONCURRENT_INDEXES}
 * @param replay seed and path of a failure. Default: a new seed
 */
export async function checkLateIndexes(
  sql: postgres.Sql,
  indexes: number,
  replay: { readonly seed?: number; readonly path?: string } = {},
): Promise<TestedCases> {
  const testedCases: TestedCases = { late: 0, expiredTokens: 0, pages: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(scenario, { minLength: CONCURRENT_INDEXES, maxLength: CONCURRENT_INDEXES }),
      async (scenarios) => {
        await Promise.all(
          scenarios.map((one) =>
            checkLateIndex(sql, one, testedCases).catch((error: unknown) => {
              throw new Error(`the index ${JSON.stringify(one)}: ${toErrorMessage(error)}`);
            }),
          ),
        );
      },
    ),
    { numRuns: indexes / CONCURRENT_INDEXES, endOnFailure: true, ...replay },
  );
  return testedCases;
}

type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

async function checkLateIndex(
  sql: postgres.Sql,
  { blocks, by, every, name, fails, ...more }: Scenario,
  testedCases: TestedCases,
): Promise<void> {
  const caughtUpAt = Math.max(...blocks.map(({ indexedAt }) => indexedAt));
  let failing = fails;
  const { clock, poll, selectRecorded, missing } = await createLateIndexRecorder(sql, blocks, every, {
    ...more,
    name,
    mayFail: fails !== null,
    failure: (call, isNextPage) => {
      if (isNextPage) testedCases.pages += 1;
      if (!failing || call % failing.every !== 0) return null;
      if (failing.kind === 'server') return 'server';
      if (isNextPage) testedCases.expiredTokens += 1;
      return isNextPage ? 'bad-request' : null;
    },
  });
  for (; clock.now < caughtUpAt; clock.now += every) {
    await poll(by);
    const { all, claimed } = await missing();
    if (all.length > 0) testedCases.late += 1;
    expect(claimed).toEqual([]);
  }
  failing = null;
  await poll(by); // the last one of an index that trailed
  for (const end = clock.now + day; clock.now < end; ) {
    clock.now += every;
    await poll(by);
  }
  expect([...(await selectRecorded())].sort((a, b) => a - b)).toEqual(numbers(blocks));
}
