import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { pBalances } from '../../../src/datasets/node/p-balances.ts';
import { validatorDelegators } from '../../../src/datasets/node/validator-delegators.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import type { Confirmation } from '../../../src/recording/histories/absence.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, pagesWith, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

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
      feed.script = () => pagesWith(pages.map((validators) => ({ validators })));
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
});

it('whose keys change at each poll is stored and reported without a bound', async () => {
  const feed = scriptedFeed(pBalances, { node: 'n', address: 'free' });
  const clock = new ManualClock(start);
  for (let round = 1; round <= 6; round++) {
    clock.now += hour;
    const keys = Array.from({ length: 10 }, (_, at) => [round * 100 + at, '1']);
    feed.script = () => onlyPage({ balances: Object.fromEntries(keys) });
    const { status } = await run(recordingContext(sql, clock.read), feed);
    expect(status).toBe(round === 1 ? 'done' : 'partial');
    const [stored] = await sql`
      select count(*)::int as all, (count(*) filter (where valid_to is null))::int as current,
        (select incomplete_reason from recorder.target_datasets where source = ${feed.source.name}) as reason
      from recorder.p_balances`;
    // The members of the previous poll wait for the next one.
    const reason = expect.stringMatching(/^departures unconfirmed: (\d+) of \1 members are missing$/);
    expect(stored).toEqual({
      all: round * 10,
      current: Math.min(20, round * 10),
      reason: round === 1 ? null : reason,
    });
  }
});

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

  it('of delegations as of validators', async () => {
    const feed = scriptedFeed(validatorDelegators, { node: 'n', subnetId: 'p', nodeId: 'v' });
    const clock = new ManualClock(start);
    const poll = (count: number) => {
      const delegators = Array.from({ length: count }, (_, one) => ({
        ...{ txID: `d${one}`, startTime: 1, endTime: start / 1000 + 60, weight: 1 },
      }));
      feed.script = () => onlyPage({ validators: [{ delegators }] });
      return run(recordingContext(sql, clock.read), feed);
    };
    await poll(5);
    clock.now += 30_000;
    expect(await poll(1)).toMatchObject({ status: 'partial', rowsWritten: [0] });
    clock.now += minute;
    expect(await poll(0)).toMatchObject({ status: 'done', rowsWritten: [5] });
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

it('requires further polls, and time between them', async () => {
  const list = createWatchedList({ observations: 3, minDuration: 10 * minute });
  await list.poll(members(0, 20));
  const statuses: string[] = [];
  for (let round = 0; round < 11; round++) statuses.push((await list.poll([])).status);
  expect(statuses).toEqual([...new Array(10).fill('partial'), 'done']);
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
