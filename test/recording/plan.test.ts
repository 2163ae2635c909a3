import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { evmTransactions } from '../../src/datasets/chain-data/evm-transactions.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { OPEN_END, type Range, type Target, type Window } from '../../src/datasets/contract.ts';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { blockRange } from '../../src/datasets/node/blocks-upwards.ts';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { pBlocks } from '../../src/datasets/node/p-blocks.ts';
import { allBlocksRange } from '../../src/datasets/sources/address-transactions.ts';
import { withArrays } from '../../src/db/postgres-workarounds/array-types.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import {
  findUncoveredWindows,
  isDue,
  jointState,
  loadStates,
  missingWindows,
  planAll,
  planDue,
  type TargetState,
} from '../../src/recording/plan.ts';
import { record } from '../../src/recording/record.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { listSweepWindows } from '../../src/recording/sweep-windows.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { blocksTarget } from '../support/blocks.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import {
  failingWalk,
  jobFor,
  onlyPage,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.UTC(2026, 0, 10);

const state = ({ covered = [], ...more }: Partial<TargetState> = {}): TargetState => ({
  expectedFrom: null,
  requestedSince: null,
  lastPolled: null,
  isComplete: false,
  lastFailure: null,
  failures: 0,
  unsupported: false,
  covered,
  answered: covered,
  shownFrom: null,
  failedSweeps: [],
  keptSince: null,
  ...more,
});

describe('isDue', () => {
  it('is true of a target that was never recorded', () => {
    expect(isDue(state(), minute, now)).toBe(true);
  });

  it('is true an interval after the last success, or a little before', () => {
    const after = (elapsed: number) => isDue(state({ lastPolled: now - elapsed }), minute, now);
    expect([0, 30 * second, 53 * second, 55 * second, minute, hour].map(after)).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it('backs off while a target keeps failing, at most to its interval', () => {
    const backoff = (failures: number) => {
      for (let elapsed = 0; elapsed <= 2 * hour; elapsed += second)
        if (isDue(state({ failures, lastFailure: now - elapsed }), hour, now)) return elapsed;
      return null;
    };
    expect([1, 2, 3, 7, 8, 9, 40, 2000].map(backoff)).toEqual([
      30 * second,
      minute,
      2 * minute,
      32 * minute,
      hour,
      hour,
      hour,
      hour,
    ]);
  });

  it('retries once a day if the target is not offered', () => {
    const after = (elapsed: number) =>
      isDue(state({ unsupported: true, lastFailure: now - elapsed }), minute, now);
    expect([minute, day - minute, day + minute].map(after)).toEqual([false, false, true]);
  });

  it('is true of a target that was configured again after its last success', () => {
    const lastPolled = now - 10 * second;
    expect(isDue(state({ lastPolled, requestedSince: now }), minute, now)).toBe(true);
    expect(isDue(state({ lastPolled, requestedSince: lastPolled }), minute, now)).toBe(false);
    // The clock was set back, which must not cause a poll at each tick.
    expect(isDue(state({ lastPolled, requestedSince: now + hour }), minute, now)).toBe(false);
  });

  it('is not blocked by a clock that jumped ahead and back', () => {
    const ahead = now + 100 * day;
    expect(isDue(state({ lastPolled: ahead }), minute, now)).toBe(true);
    expect(isDue(state({ lastFailure: ahead, failures: 3 }), minute, now)).toBe(true);
    expect(isDue(state({ lastFailure: ahead, unsupported: true }), minute, now)).toBe(true);
  });
});

const range: Range = {
  axis: 'time',
  span: () => day,
  head: () => 10 * minute,
  settle: 10 * minute,
  lookback: 5 * day,
};
const createRangedFeed = (): ScriptedFeed => scriptedFeed(proposedBlocks, blocksTarget(), { range });
const targetOf = (feed: ScriptedFeed): Target => feed.targets[0] ?? {};
const statesOf = (feed: ScriptedFeed, targetState: TargetState) =>
  new Map([[targetKey(targetOf(feed)), new Map(feed.datasets.map(({ name }) => [name, targetState]))]]);

describe('missingWindows', () => {
  it('are the whole lookback of a new target, newest first', () => {
    const feed = createRangedFeed();
    expect(missingWindows(feed, targetOf(feed), state(), now)).toEqual(
      [0, 1, 2, 3, 4].map((days) => ({ from: now - (days + 1) * day, to: now - days * day })),
    );
  });

  it.each(['hour', 'day', 'week', 'month'])(
    'of metrics by %s reach back to the first EVM chain, at any time of the first request, and not to empty years',
    (timeInterval) => {
      const target = { chainId: '43114', metric: 'txCount', timeInterval };
      const feed = withDefaultSettings({ source: metricPoints.source, datasets: [metricPoints] }, [target]);
      // The C-chain, 2020-09-21 (upstream-services.md#metrics-service).
      const chainStart = 1_600_646_400_000;
      for (const year of [2026, 2032, 2040]) {
        const windows = missingWindows(feed, target, state(), Date.UTC(year, 11, 1));
        expect(windows.at(-1)?.from).toBeLessThan(chainStart);
        expect(windows.filter(({ to }) => to < chainStart).length).toBeLessThanOrEqual(3);
      }
    },
  );

  it('start at the expected start of the recording when the target was first configured', () => {
    const feed = createRangedFeed();
    const windows = missingWindows(feed, targetOf(feed), state({ expectedFrom: now - 36 * hour }), now);
    expect(windows.at(-1)).toEqual({ from: now - 36 * hour, to: now - day });
  });

  it('always include the newest part, which may still change', () => {
    const feed = createRangedFeed();
    const covered = [{ from: now - 30 * day, to: now }];
    expect(missingWindows(feed, targetOf(feed), state({ covered }), now)).toEqual([
      { from: now - 10 * minute, to: now },
    ]);
  });

  it('are exactly the ranges without coverage', () => {
    const feed = createRangedFeed();
    const covered = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 130 }), fc.integer({ min: 1, max: 40 })).map(
        ([from, length]): Window => ({
          from: now - (130 - from) * hour,
          to: now - (130 - from - length) * hour,
        }),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(covered, (parts) => {
        const windows = missingWindows(feed, targetOf(feed), state({ covered: parts }), now);
        const contains = (ranges: readonly Window[], instant: number) =>
          ranges.some(({ from, to }) => from <= instant && instant < to);
        for (let instant = now - 5 * day; instant < now - 10 * minute; instant += 30 * minute)
          expect(contains(windows, instant)).toBe(!contains(parts, instant));
        expect(contains(windows, now - 1)).toBe(true);
        expect(windows.every(({ from, to }) => to - from <= day && from < to)).toBe(true);
        expect(windows.map(({ to }) => to)).toEqual(windows.map(({ to }) => to).sort((a, b) => b - a));
      }),
    );
  });
});

describe('ranges without coverage', () => {
  it('are returned newest first, in windows', () => {
    const feed = createRangedFeed();
    const covered = [{ from: now - 3 * day, to: now - 2 * day }];
    expect(
      findUncoveredWindows(feed, targetOf(feed), state({ covered }), { from: now - 4 * day, to: now - day }),
    ).toEqual([
      { from: now - 2 * day, to: now - day },
      { from: now - 4 * day, to: now - 3 * day },
    ]);
  });

  it('include the whole range if it is requested again, except removed rows', () => {
    const feed = createRangedFeed();
    const targetState = state({ covered: [{ from: now - 30 * day, to: now }] });
    const past = { from: now - 4 * day, to: now - day };
    expect(findUncoveredWindows(feed, targetOf(feed), targetState, past)).toEqual([]);
    expect(findUncoveredWindows(feed, targetOf(feed), targetState, past, true)).toEqual([past]);
    const removed = { ...targetState, keptSince: now - 2 * day };
    expect(findUncoveredWindows(feed, targetOf(feed), removed, past, true)).toEqual([
      { from: now - 2 * day, to: now - day },
    ]);
  });
});

describe('planDue', () => {
  it('polls the newest window of a due target, and heals the newest gap after that', () => {
    const feed = createRangedFeed();
    const [poll, gap] = missingWindows(feed, targetOf(feed), state(), now);
    expect(planDue(feed, new Map(), now)).toEqual([
      { target: targetOf(feed), window: poll, reason: 'poll', plannedAt: now, firstPoll: 0 },
    ]);
    const polled = state({ lastPolled: now, covered: poll ? [poll] : [] });
    const [, ...jobs] = missingWindows(feed, targetOf(feed), polled, now);
    expect(planDue(feed, statesOf(feed, polled), now)).toEqual([
      { target: targetOf(feed), window: jobs[0], reason: 'heal' },
    ]);
    expect(jobs[0]).toEqual(gap);
  });

  it('numbers the first polls of a feed, and no later one', () => {
    const feed = scriptedFeed(nodeIdentity, { node: 'a' }, { every: hour });
    const targets = ['a', 'b', 'c'].map((node) => ({ node }));
    const polled = new Map([
      [targetKey({ node: 'b' }), new Map([['node_identity', state({ lastPolled: now - 2 * hour })]])],
    ]);
    const jobs = planDue({ ...feed, targets }, polled, now);
    expect(jobs.map(({ target, firstPoll }) => [target.node, firstPoll])).toEqual([
      ['a', 0],
      ['b', undefined],
      ['c', 1],
    ]);
  });

  it('finds no gap in the time since the last poll', () => {
    const feed = createRangedFeed();
    for (const elapsed of [1, 1000, 9 * minute, hour, day]) {
      const covered = [{ from: now - 30 * day, to: now - 10 * minute }];
      const jobs = planDue(
        feed,
        statesOf(feed, state({ covered, lastPolled: now + elapsed })),
        now + elapsed,
      );
      expect(jobs.filter(({ reason }) => elapsed < day - 10 * minute && reason === 'heal')).toEqual([]);
    }
  });

  it('heals also between polls, but not while the target fails or is not offered', () => {
    const feed = createRangedFeed();
    const reasons = (more: Partial<TargetState>) =>
      planDue(feed, statesOf(feed, state({ lastPolled: now, ...more })), now).map(({ reason }) => reason);
    expect(reasons({})).toEqual(['heal']);
    expect(reasons({ failures: 1, lastFailure: now })).toEqual([]);
    expect(reasons({ unsupported: true, lastFailure: now })).toEqual([]);
  });

  it('polls an observation once an interval and never heals it', () => {
    const feed = scriptedFeed(nodeIdentity, { node: 'n' });
    const jobs = (lastPolled: number) => planDue(feed, statesOf(feed, state({ lastPolled })), now);
    expect(jobs(now)).toEqual([]);
    expect(jobs(now - minute)).toEqual([
      { target: { node: 'n' }, window: null, reason: 'poll', plannedAt: now },
    ]);
  });

  it('polls a complete target once an interval and does nothing else', () => {
    const feed = createRangedFeed();
    const covered = [{ from: now - 30 * day, to: now - minute }];
    expect(planDue(feed, statesOf(feed, state({ covered, lastPolled: now - hour })), now)).toHaveLength(1);
    expect(planDue(feed, statesOf(feed, state({ covered, lastPolled: now })), now)).toEqual([]);
  });
});

describe('windowsAgain', () => {
  const { index } = proposedBlocks.source.range ?? {};
  if (!index) throw new Error('proposed blocks are read from no index');
  const indexed = { ...range, index };
  /** Returns the windows of all polls in a time, with the moment of each poll. */
  const listRequested = (feed: ScriptedFeed, targetState: TargetState, every: number, duration: number) => {
    const requests: { readonly at: number; readonly window: Window }[] = [];
    for (let at = now; at < now + Math.max(duration, every); at += every)
      for (const window of listSweepWindows(
        feed,
        targetOf(feed),
        { ...targetState, lastPolled: at - every },
        at,
      ))
        requests.push({ at, window });
    return requests;
  };

  it('cover each completed piece within 30 days, however rare the polls', () => {
    for (const every of [hour, 7 * hour, day, 9 * day, 40 * day]) {
      const feed = scriptedFeed(proposedBlocks, blocksTarget(), { range: indexed, every });
      const covered = [{ from: now - 400 * day, to: now + 80 * day }];
      const targetState = state({ expectedFrom: now - 400 * day, covered });
      // Pieces move with the time: only their position counts.
      const pieces = listRequested(feed, targetState, every, 30 * day + every)
        .filter(({ window }) => window.to - window.from <= day)
        .map(({ at, window }) => Math.round((at - window.to) / day));
      expect(new Set(pieces).size).toBeGreaterThanOrEqual(400 - 14 - 1);
    }
  });

  it('are the last 14 days and all that is not claimed yet once a day, at any time between two polls', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }).map((hours) => hours * hour),
        fc.integer({ min: 0, max: 40 }),
        (every, claimedDays) => {
          const feed = scriptedFeed(proposedBlocks, blocksTarget(), { range: indexed, every });
          const targetState = state({
            expectedFrom: now - 100 * day,
            covered: [{ from: now - 100 * day, to: now - claimedDays * day }],
            answered: [{ from: now - 100 * day, to: now + 100 * day }],
          });
          const recent = listRequested(feed, targetState, every, 10 * day).filter(
            ({ at, window }) => window.to === at,
          );
          expect(recent.length).toBeLessThanOrEqual(11);
          recent.forEach(({ at }, turn) => {
            expect(at - (recent[turn - 1]?.at ?? now - every)).toBeLessThan(day + every);
          });
          for (const { at, window } of recent)
            expect(window.from).toBe(Math.min(at - 14 * day, now - claimedDays * day));
        },
      ),
    );
  });

  it('exclude what each poll shows anyway, missing ranges, and datasets without an index', () => {
    const covered = [{ from: now - 100 * day, to: now }];
    const listWindows = (range: Range, more: Partial<TargetState> = {}) => {
      const feed = scriptedFeed(proposedBlocks, blocksTarget(), { range, every: 40 * day });
      const targetState = state({ expectedFrom: now - 100 * day, covered, ...more });
      return listSweepWindows(feed, targetOf(feed), { ...targetState, lastPolled: now - 40 * day }, now);
    };
    expect(listWindows(indexed)).toHaveLength(1 + 100 - 14);
    expect(listWindows(indexed, { shownFrom: now - 20 * day })).toHaveLength(100 - 20);
    expect(listWindows(indexed, { shownFrom: now - 100 * day })).toEqual([]);
    expect(listWindows(indexed, { covered: [{ from: now - 30 * day, to: now }] })).toHaveLength(1 + 30 - 14);
    expect(listWindows(range)).toEqual([]);
  });

  it('of a list without windows are the unclaimed heights, and the whole list once in 30 days', () => {
    const feed = scriptedFeed(proposedBlocks, blocksTarget(), { range: allBlocksRange, every: day });
    const targetState = state({
      covered: [{ from: 0, to: 500 }],
      answered: [{ from: 0, to: 900 }],
      shownFrom: 600,
    });
    const windows = listRequested(feed, targetState, day, 30 * day).map(({ window }) => window);
    expect(windows.filter(({ to }) => to === OPEN_END)).toEqual(Array(30).fill({ from: 500, to: OPEN_END }));
    expect(windows.filter(({ to }) => to !== OPEN_END)).toEqual([{ from: 0, to: 500 }]);
  });
});

describe('heights from a configured start', () => {
  const feed = scriptedFeed(pBlocks, { node: 'one' }, { range: blockRange });
  const target = { node: 'one' };
  const stateSince = (from: number, covered: Window[]) =>
    state({ expectedFrom: from, covered, lastPolled: now });

  it('are polled from the newest block first, and filled afterwards', () => {
    expect(missingWindows(feed, target, stateSince(0, []), now)).toEqual([
      { from: OPEN_END - 1, to: OPEN_END },
    ]);
    const targetState = stateSince(40, [{ from: 900, to: 1000 }]);
    expect(missingWindows(feed, target, targetState, now)).toEqual([
      { from: 1000, to: OPEN_END },
      { from: 40, to: 900 },
    ]);
    expect(planDue(feed, statesOf(feed, targetState), now)).toEqual([
      { target, window: { from: 40, to: 900 }, reason: 'heal' },
    ]);
  });

  it('are requested in parts of one run by a backfill, whatever was covered before', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9_000), fc.nat(3_000)), { maxLength: 6 }), (parts) => {
        const covered = parts
          .map(([from, length]) => ({ from, to: from + length + 1 }))
          .toSorted((a, b) => a.from - b.from)
          .filter((one, at, all) => at === 0 || one.from > Math.max(...all.slice(0, at).map(({ to }) => to)));
        const windows = findUncoveredWindows(feed, target, state({ covered }), { from: 0, to: 10_000 });
        expect(windows.every(({ from, to }) => to - from <= 500 && to > from)).toBe(true);
        const heights = [...windows, ...covered].flatMap(({ from, to }) =>
          Array.from({ length: Math.min(to, 10_000) - from }, (_, at) => from + at),
        );
        expect([heights.length, new Set(heights).size]).toEqual([10_000, 10_000]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('planAll', () => {
  it('includes everything that is missing, whether due or not', () => {
    const feed = createRangedFeed();
    const jobs = planAll(feed, feed.targets, statesOf(feed, state({ lastPolled: now })), now);
    expect(jobs.map(({ reason }) => reason)).toEqual(Array(5).fill('manual'));
    const observation = scriptedFeed(nodeIdentity, { node: 'n' });
    expect(planAll(observation, observation.targets, new Map(), now)).toEqual([
      { target: { node: 'n' }, window: null, reason: 'manual' },
    ]);
  });
});

describe('the stored state of targets', () => {
  const loadState = async (feed: ScriptedFeed) =>
    jointState(feed, await loadStates(sql, feed), targetOf(feed));

  it('fixes the expected start of the recording when a target is first configured', async () => {
    const feed = createRangedFeed();
    await registerTargets(sql, feed, now);
    await registerTargets(sql, feed, now + 3 * day);
    expect(await loadState(feed)).toEqual(state({ expectedFrom: now - 5 * day, requestedSince: now }));
    const extended = { ...feed, datasets: feed.datasets.map((one) => ({ ...one, since: now - 50 * day })) };
    await registerTargets(sql, extended, now);
    await registerTargets(sql, feed, now);
    expect(await loadState(feed)).toMatchObject({ expectedFrom: now - 50 * day });
  });

  it('expects the common start also for a target of a version with a shorter lookback', async () => {
    const feed = createRangedFeed();
    await registerTargets(sql, feed, now);
    const commonStart = new Date(now - 40 * day);
    const source = { ...feed.source, range: { ...range, lookback: commonStart } };
    await registerTargets(sql, { ...feed, source }, now + day);
    expect(await loadState(feed)).toMatchObject({ expectedFrom: commonStart.getTime() });
  });

  it('keeps targets that left the configuration, but expects nothing of them', async () => {
    const feed = createRangedFeed();
    const [first, second] = [
      { ...targetOf(feed), nodeId: 'one' },
      { ...targetOf(feed), nodeId: 'two' },
    ];
    const selectActive = async () => {
      const rows = await sql<{ target_key: string }[]>`
        select target_key from recorder.target_datasets where source = ${feed.source.name} and active order by 1`;
      return rows.map(({ target_key }) => target_key);
    };
    await registerTargets(sql, { ...feed, targets: [first, second] }, now);
    expect(await selectActive()).toEqual([targetKey(first), targetKey(second)]);
    await registerTargets(sql, { ...feed, targets: [second] }, now);
    expect(await selectActive()).toEqual([targetKey(second)]);
    await registerTargets(sql, { ...feed, targets: [first, second] }, now);
    expect(await selectActive()).toEqual([targetKey(first), targetKey(second)]);
    await registerTargets(sql, { ...feed, targets: [] }, now);
    expect(await selectActive()).toEqual([]);
  });

  it('polls a target that is configured again at once, whatever the kind of its history', async () => {
    const feed = createRangedFeed();
    const clock = new ManualClock(now);
    const plan = async () =>
      planDue(feed, await loadStates(sql, feed), clock.now).filter(({ reason }) => reason === 'poll');
    await registerTargets(sql, feed, clock.now);
    const [poll] = await plan();
    if (!poll) throw new Error('no poll is planned');
    await record(recordingContext(sql, clock.read), feed, poll, new AbortController().signal);
    clock.now += second;
    expect(await plan()).toEqual([]);
    await registerTargets(sql, { ...feed, targets: [] }, clock.now);
    clock.now += second;
    await registerTargets(sql, feed, clock.now);
    expect(await plan()).toMatchObject([{ target: targetOf(feed) }]);
  });

  it('counts failures until a success, and stores unsupported targets', async () => {
    const feed = scriptedFeed(nodeIdentity, { node: 'failing' });
    const clock = new ManualClock(now);
    const context = recordingContext(sql, clock.read);
    feed.script = failingWalk('refused', 'the call failed');
    await run(context, feed);
    clock.now += minute;
    await run(context, feed);
    expect(await loadState(feed)).toMatchObject({ failures: 2, lastFailure: now + minute, lastPolled: null });
    feed.script = failingWalk('unsupported', 'no such method');
    clock.now += minute;
    expect(await run(context, feed)).toMatchObject({ status: 'unsupported' });
    expect(await loadState(feed)).toMatchObject({ failures: 0, unsupported: true });
    feed.script = () => onlyPage({ nodeID: 'NodeID-1' });
    clock.now += minute;
    await run(context, feed);
    expect(await loadState(feed)).toMatchObject({
      failures: 0,
      unsupported: false,
      lastPolled: now + 3 * minute,
    });
  });

  it('counts the next poll from the plan of the last one, however long that one waited', async () => {
    const feed = scriptedFeed(nodeIdentity, { node: 'waiting' }, { every: minute });
    feed.script = () => onlyPage({ nodeID: 'NodeID-1' });
    const clock = new ManualClock(now);
    const context = recordingContext(sql, clock.read);
    const reasons = async () =>
      planDue(feed, await loadStates(sql, feed), clock.now).map(({ reason }) => reason);
    const planned = clock.now;
    clock.now += 26 * second;
    await record(context, feed, { ...jobFor(feed), plannedAt: planned }, new AbortController().signal);
    clock.now = planned + 50 * second;
    expect(await reasons()).toEqual([]);
    clock.now = planned + minute;
    expect(await reasons()).toEqual(['poll']);
    // A poll by hand, in between: the next poll counts from it.
    await run(context, feed);
    expect(await reasons()).toEqual([]);
    // A plan of a clock that was ahead does not delay it.
    await record(
      context,
      feed,
      { ...jobFor(feed), plannedAt: clock.now + hour },
      new AbortController().signal,
    );
    clock.now += minute;
    expect(await reasons()).toEqual(['poll']);
  });

  it('requests data that never changes until a response was recorded completely', async () => {
    const target = { chainId: '43114', txHash: String(evmTransactions.example.txHash) };
    const feed = withDefaultSettings({ source: evmTransactions.source, datasets: [evmTransactions] }, [
      target,
    ]);
    const clock = new ManualClock(now);
    // The client of the recorder encodes arrays of booleans.
    await registerTargets(withArrays(sql), feed, clock.now);
    const plan = async () => planDue(feed, await loadStates(sql, feed), clock.now);
    const runOnce = async (transaction: object) => {
      const client = { get: async () => ({ nativeTransaction: transaction }) };
      const [poll] = await plan();
      if (!poll) throw new Error('no poll is planned');
      return record(recordingContext(sql, clock.read, client), feed, poll, new AbortController().signal);
    };
    // The index has the transaction, but not its block yet.
    const pending = { ...evmTransactions.example, blockNumber: null };
    expect(await runOnce(pending)).toMatchObject({ status: 'partial', quarantined: 1 });
    expect(await plan()).toEqual([]);
    clock.now += hour;
    expect(await runOnce(evmTransactions.example)).toMatchObject({ status: 'done', rowsWritten: [1] });
    clock.now += day;
    expect(await plan()).toEqual([]);
  });

  it('treats permanently missing ranges as settled', async () => {
    const feed = scriptedFeed(nodeIdentity, { node: 'gaps' }, { every: minute });
    feed.script = () => onlyPage({ nodeID: 'NodeID-1' });
    const clock = new ManualClock(now);
    const context = recordingContext(sql, clock.read);
    await run(context, feed);
    clock.now += hour;
    await run(context, feed);
    expect((await loadState(feed)).covered).toEqual([{ from: now, to: now + hour + 1 }]);
  });
});
