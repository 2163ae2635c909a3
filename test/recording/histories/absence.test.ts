import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { pendingRewards } from '../../../src/datasets/chain-data/pending-rewards.ts';
import { primaryBalances } from '../../../src/datasets/chain-data/primary-balances.ts';
import { pBalances } from '../../../src/datasets/node/p-balances.ts';
import { nodeProposals } from '../../../src/datasets/node/proposals.ts';
import { validatorDelegators } from '../../../src/datasets/node/validator-delegators.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { xBalances } from '../../../src/datasets/node/x-balances.ts';
import type { Confirmation } from '../../../src/recording/histories/absence.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, pagesOf, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 0, 10);
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const member = (name: string) => ({ nodeID: name, startTime: 1_700_000_000, weight: 5 });
const members = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => member(`m${String(from + at).padStart(3, '0')}`));

let lists = 0;

/** A list of validators, polled every minute. */
function createWatchedList(confirmShrink?: Confirmation) {
  lists += 1;
  const subnetId = `list-${lists}`;
  const feed = scriptedFeed(
    [validators, validatorUptime],
    { node: 'n', subnetId },
    confirmShrink ? { confirmShrink } : {},
  );
  const clock = new ManualClock(start);
  const context = recordingContext(sql, clock.read);
  return {
    clock,
    async poll(listed: readonly object[], whole = true) {
      clock.now += minute;
      feed.script = () => onlyPage({ validators: listed }, { whole });
      return run(context, feed);
    },
    async pollInPages(...pages: readonly (readonly object[])[]) {
      clock.now += minute;
      feed.script = () =>
        pagesOf(
          pages.map((listed, at) => ({
            body: { validators: listed },
            proven: null,
            last: at === pages.length - 1,
            whole: true,
          })),
        );
      return run(context, feed);
    },
    current: async () => {
      const rows = await sql<{ node_id: string }[]>`
        select node_id from reporting.node_validators where subnet_id = ${subnetId} order by 1`;
      return rows.map(({ node_id }) => node_id);
    },
    versions: async () =>
      (await sql`select 1 from reporting.node_validators_history where subnet_id = ${subnetId}`).length,
    ends: async () => {
      const rows = await sql<{ ended: Date }[]>`
        select valid_to as ended from reporting.node_validators_history where subnet_id = ${subnetId} and valid_to is not null`;
      return rows.map(({ ended }) => ended);
    },
    freshness: async () => {
      const [row] = await sql<{ reason: string | null; complete: boolean }[]>`
        select incomplete_reason as reason, last_complete_at = last_success_at as complete
        from recorder.target_datasets where source = ${feed.source.name} and dataset = 'validators'`;
      return row ?? { reason: 'nothing', complete: false };
    },
  };
}

const names = (listed: readonly { nodeID: string }[]) => listed.map(({ nodeID }) => nodeID);

describe('a list that lost more than half of its members', () => {
  it.each([
    ['is suddenly empty', 0],
    ['has a few left', 3],
    ['has just less than half left', 9],
  ])('closes no version if it %s, and is complete again later', async (_, remaining) => {
    const list = createWatchedList();
    await list.poll(members(0, 20));
    expect(await list.poll(members(0, remaining))).toMatchObject({ status: 'partial', rowsWritten: [0, 0] });
    expect(await list.freshness()).toEqual({
      reason: `departures unconfirmed: ${20 - remaining} of 20 members are missing`,
      complete: false,
    });
    expect(await list.current()).toHaveLength(20);
    expect(await list.poll(members(0, 20))).toMatchObject({ status: 'done' });
    expect(await list.freshness()).toEqual({ reason: null, complete: true });
    expect(await list.versions()).toBe(20);
    // An earlier missing member is not remembered: the next suspicion restarts.
    expect(await list.poll([])).toMatchObject({ status: 'partial' });
    expect(await list.current()).toHaveLength(20);
  });

  it('is suspected also if the list has other members', async () => {
    const list = createWatchedList();
    await list.poll(members(0, 20));
    expect(await list.poll(members(20, 50))).toMatchObject({ status: 'partial', rowsWritten: [30, 0] });
    expect(await list.freshness()).toMatchObject({
      reason: 'departures unconfirmed: 20 of 20 members are missing',
    });
    await list.poll(members(20, 50));
    expect(await list.current()).toEqual(names(members(20, 50)));
  });

  it('counts the members before the run, in any number of commits', async () => {
    const list = createWatchedList();
    await list.poll(members(0, 20));
    const changed = members(0, 4).map((one) => ({ ...one, weight: 6 }));
    const result = await list.pollInPages(changed, members(20, 40), members(40, 50));
    expect(result).toMatchObject({ status: 'partial', rowsWritten: [34, 0] });
    expect(await list.freshness()).toMatchObject({
      reason: 'departures unconfirmed: 16 of 20 members are missing',
    });
  });

  it('is not confirmed by an incomplete poll', async () => {
    const list = createWatchedList();
    await list.poll(members(0, 20));
    await list.poll([]);
    await list.poll([], false);
    expect(await list.current()).toHaveLength(20);
    // A poll proves its members, even if it is incomplete.
    await list.poll(members(0, 15), false);
    await list.poll([]);
    expect(await list.current()).toEqual(names(members(0, 15)));
  });
});

/** Datasets whose members have keys of the upstream, and a response with the members of a poll. */
const FREE_KEYS = [
  [pBalances, (keys: readonly string[]) => ({ balances: Object.fromEntries(keys.map((key) => [key, '1'])) })],
  [
    xBalances,
    (keys: readonly string[]) => ({ balances: keys.map((assetID) => ({ assetID, balance: '1' })) }),
  ],
  [
    primaryBalances,
    (keys: readonly string[]) => ({
      balances: Object.fromEntries(keys.map((key) => [key, [{ assetId: 'a', amount: '1' }]])),
    }),
  ],
  [nodeProposals, (keys: readonly string[]) => ({ acps: Object.fromEntries(keys.map((key) => [key, {}])) })],
] as const;

it.each(FREE_KEYS.map(([dataset, answer]) => [dataset.name, dataset, answer] as const))(
  'is stored and reported as long as its members change at each poll: %s',
  async (_, dataset, answer) => {
    const target = {
      node: 'n',
      address: 'free',
      addresses: 'free',
      network: 'free',
      blockchainId: 'p-chain',
    };
    const feed = scriptedFeed(dataset, target);
    const clock = new ManualClock(start);
    const stored = async () => {
      const [row] = await sql<{ all: number; current: number; reason: string | null }[]>`
        select count(*)::int as all, (count(*) filter (where valid_to is null))::int as current,
          (select incomplete_reason from recorder.target_datasets where source = ${feed.source.name}) as reason
        from recorder.${sql(dataset.name)}`;
      return row;
    };
    for (let round = 1; round <= 6; round++) {
      clock.now += hour;
      const keys = Array.from({ length: 10 }, (_, at) => String(round * 100 + at));
      feed.script = () => onlyPage(answer(keys));
      const { status } = await run(recordingContext(sql, clock.read), feed);
      expect(status).toBe(round === 1 ? 'done' : 'partial');
      const { all, current, reason } = (await stored()) ?? {};
      expect(all).toBe(round * 10);
      // The members of the previous poll wait for the next one.
      expect(current).toBeLessThanOrEqual(20);
      expect(reason).toEqual(
        round === 1
          ? null
          : expect.stringMatching(/^departures unconfirmed: (\d+) of \1 members are missing$/),
      );
    }
  },
);

describe('a member that states its own end', () => {
  const memberWithEnd = (name: string, endTime: number) => ({ ...member(name), endTime: endTime / 1000 });

  it('needs no confirmation after it, also if most of the list disappeared after a pause', async () => {
    const list = createWatchedList();
    const past = Array.from({ length: 17 }, (_, at) => memberWithEnd(`past-${at}`, start + hour));
    const others = [
      memberWithEnd('a', start + 90 * day),
      memberWithEnd('b', start + 90 * day),
      memberWithEnd('c', start + 90 * day),
    ];
    await list.poll([...past, ...others]);
    list.clock.now += 21 * day;
    expect(await list.poll(others)).toMatchObject({ status: 'done', rowsWritten: [17, 0] });
    expect(await list.current()).toEqual(['a', 'b', 'c']);
    expect([...new Set((await list.ends()).map((end) => end.getTime()))]).toEqual([list.clock.now]);
  });

  it('does not count as missing with others', async () => {
    const list = createWatchedList();
    const past = Array.from({ length: 10 }, (_, at) => memberWithEnd(`past-${at}`, start + hour));
    await list.poll([...past, ...members(0, 5)]);
    list.clock.now += day;
    // Of the five others three are missing.
    expect(await list.poll(members(0, 2))).toMatchObject({ status: 'partial', rowsWritten: [10, 0] });
    expect(await list.freshness()).toMatchObject({
      reason: 'departures unconfirmed: 3 of 5 members are missing',
    });
    expect(await list.current()).toEqual(names(members(0, 5)));
  });

  it('ends by the clock of the database, if that of the process is ahead', async () => {
    const list = createWatchedList();
    list.clock.now = Math.floor(Date.now() / minute) * minute - minute;
    const listed = ['a', 'b', 'c'].map((name) => memberWithEnd(name, list.clock.now + hour));
    await list.poll(listed);
    list.clock.now += day;
    expect(await list.poll([])).toMatchObject({ status: 'partial', rowsWritten: [0, 0] });
    expect(await list.current()).toEqual(['a', 'b', 'c']);
  });

  it('is retired before its end only if later observations agree', async () => {
    const list = createWatchedList();
    await list.poll([
      memberWithEnd('a', start + day),
      memberWithEnd('b', start + day),
      memberWithEnd('c', start + day),
    ]);
    expect(await list.poll([])).toMatchObject({ status: 'partial', rowsWritten: [0, 0] });
    const first = list.clock.now;
    list.clock.now += day;
    expect(await list.poll([])).toMatchObject({ status: 'done', rowsWritten: [3, 0] });
    expect([...new Set((await list.ends()).map((end) => end.getTime()))]).toEqual([first]);
  });

  it.each([
    [
      'delegations',
      validatorDelegators,
      { node: 'n', subnetId: 'p', nodeId: 'v' },
      (at: number) => ({
        validators: Array.from({ length: at }, (_, one) => ({
          txID: `d${one}`,
          startTime: 1,
          endTime: start / 1000 + 60,
          weight: 1,
        })),
      }),
    ],
    [
      'pending rewards',
      pendingRewards,
      { network: 'own-end' },
      (at: number) => ({
        pendingRewards: Array.from({ length: at }, (_, one) => ({
          txHash: `r${one}`,
          rewardType: 'DELEGATOR',
          endTimestamp: start / 1000 + 60,
        })),
      }),
    ],
  ] as const)('of %s as of validators', async (_, dataset, target, body) => {
    const feed = scriptedFeed(dataset, target);
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    const answer = (count: number) => {
      const responseBody = body(count);
      return 'validators' in responseBody
        ? { validators: [{ delegators: responseBody.validators }] }
        : responseBody;
    };
    feed.script = () => onlyPage(answer(5));
    await run(context, feed);
    clock.now += 30_000;
    feed.script = () => onlyPage(answer(1));
    expect(await run(context, feed)).toMatchObject({ status: 'partial', rowsWritten: [0] });
    clock.now += minute;
    feed.script = () => onlyPage(answer(0));
    expect(await run(context, feed)).toMatchObject({ status: 'done', rowsWritten: [5] });
  });
});

describe('a confirmed member', () => {
  it('ends at the first observation that missed it, also if one between two others could not be stored', async () => {
    const list = createWatchedList();
    await list.poll(members(0, 5));
    await list.poll(members(0, 2));
    // Their items cannot be decoded, but they are listed.
    const unreadable = members(2, 5).map((one) => ({ ...one, weight: 'heavy' }));
    expect(await list.poll([...members(0, 2), ...unreadable], false)).toMatchObject({ quarantined: 3 });
    expect(await list.poll(members(0, 2))).toMatchObject({ status: 'partial', rowsWritten: [0, 0] });
    const first = list.clock.now;
    expect(await list.poll(members(0, 2))).toMatchObject({ status: 'done', rowsWritten: [3, 0] });
    expect([...new Set((await list.ends()).map((end) => end.getTime()))]).toEqual([first]);
  });

  it('does not end in the future if the clock was set back', async () => {
    const list = createWatchedList();
    await list.poll(members(0, 5));
    list.clock.now += hour;
    await list.poll(members(0, 2));
    list.clock.now -= hour;
    expect(await list.poll(members(0, 2))).toMatchObject({ status: 'done', rowsWritten: [3, 0] });
    for (const end of await list.ends()) expect(end.getTime()).toBeLessThanOrEqual(list.clock.now);
  });
});

describe('the confirmation', () => {
  it('is immediate if one poll is enough', async () => {
    const list = createWatchedList({ observations: 1, minDuration: 0 });
    await list.poll(members(0, 20));
    expect(await list.poll([])).toMatchObject({ status: 'done', rowsWritten: [20, 0] });
  });
});

it('requires further polls, and time between them', async () => {
  const list = createWatchedList({ observations: 3, minDuration: 10 * minute });
  await list.poll(members(0, 20));
  const statuses: string[] = [];
  for (let round = 0; round < 11; round++) statuses.push((await list.poll([])).status);
  expect(statuses).toEqual([...new Array(10).fill('partial'), 'done']);
  const patient = createWatchedList({ observations: 3, minDuration: 0 });
  await patient.poll(members(0, 20));
  for (const status of ['partial', 'partial', 'done'])
    expect(await patient.poll([])).toMatchObject({ status });
});

describe('any polls of a list', () => {
  const listed = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 7 });
  const polls = fc.array(
    fc.record({ listed, whole: fc.boolean().map((one) => one), changed: fc.boolean() }),
    {
      minLength: 2,
      maxLength: 10,
    },
  );

  it('leave the versions of a plain account of them', async () => {
    const counts = { suspected: 0, confirmed: 0 };
    await fc.assert(
      fc.asyncProperty(polls, fc.integer({ min: 1, max: 3 }), async (allPolls, observations) => {
        const list = createWatchedList({ observations, minDuration: 0 });
        const missedPolls = new Map<number, number>();
        for (const [at, { listed, whole, changed }] of allPolls.entries()) {
          const weight = changed ? at + 1 : 1;
          const { status } = await list.poll(
            listed.map((one) => ({ ...member(`${one}`), weight })),
            whole,
          );
          const missing = [...missedPolls.keys()].filter((one) => !listed.includes(one));
          const size = missedPolls.size;
          const isSuspected = missing.length * 2 > size;
          for (const one of listed) missedPolls.set(one, 0);
          let waiting = 0;
          for (const one of whole ? missing : []) {
            const missedCount = (missedPolls.get(one) ?? 0) + 1;
            if (isSuspected && missedCount < observations) {
              missedPolls.set(one, missedCount);
              waiting += 1;
            } else missedPolls.delete(one);
          }
          if (whole && isSuspected) counts[waiting > 0 ? 'suspected' : 'confirmed'] += 1;
          expect(status).toBe(whole && waiting === 0 ? 'done' : 'partial');
          if (whole)
            expect(await list.freshness()).toMatchObject(
              waiting === 0
                ? { reason: null, complete: true }
                : { reason: `departures unconfirmed: ${missing.length} of ${size} members are missing` },
            );
          expect(await list.current()).toEqual([...missedPolls.keys()].map(String).sort());
        }
      }),
      { numRuns: 60 },
    );
    expect(Math.min(counts.suspected, counts.confirmed)).toBeGreaterThan(5);
  });
});
