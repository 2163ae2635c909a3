import { describe, expect } from 'vitest';
import { blockchains } from '../../src/datasets/chain-data/blockchains.ts';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { pagesOf, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';
import {
  type Change,
  checkMovingLists,
  createMovingListRecorder,
  MovingList,
  type WalkCase,
} from './moving-lists.ts';

const { it, sql } = withDatabase({ max: 4 });

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const unchanged: WalkCase = { before: [], between: [], expiredCall: null, hasTotal: false };
const between = (...changes: Change[]): WalkCase => ({ ...unchanged, between: [changes] });
const remove = (place: number): Change => ({ kind: 'remove', place });

function createRecorder(count: number, tokens: 'offset' | 'keyset' = 'offset', pageSize = 100) {
  const list = new MovingList({ tokens, pageSize, members: numbers(count) });
  return createMovingListRecorder(sql, list, pageSize);
}

const current = (members: ReadonlyMap<number, number | null>) =>
  [...members].filter(([, ended]) => ended === null).map(([member]) => member);

describe('a list that changes between two of its pages', () => {
  it('keeps a member that moved across the boundary of two pages', async () => {
    const list = createRecorder(250);
    expect((await list.walk(unchanged)).result.status).toBe('done');
    const { result, observed } = await list.walk(between(remove(7)));
    expect(observed.shownMembers.has(100)).toBe(false);
    expect(result).toMatchObject({ status: 'partial', rowsWritten: [0] });
    // 7 was removed after its page was read, so that only 100 is missing.
    expect(await list.freshness()).toEqual({
      reason: 'departures unconfirmed: 1',
      complete: true,
      unconfirmed: 1,
    });
    expect((await list.walk(unchanged)).result.status).toBe('partial');
    const { result: third } = await list.walk(unchanged);
    expect(third.status).toBe('done');
    expect(current(await list.members())).toEqual(expect.arrayContaining([100]));
    expect(current(await list.members())).toHaveLength(249);
    const versions = await sql`select 1 from recorder.subnets where subnet_id = ${`${list.network}-s100`}`;
    expect(versions).toHaveLength(1);
  });

  it('retires no member by a walk that shows a key twice', async () => {
    const list = createRecorder(250);
    await list.walk(unchanged);
    const walk = between({ kind: 'insert', member: 900, place: 0 });
    const { result } = await list.walk({ ...walk, before: [remove(120)] });
    expect(result).toMatchObject({ status: 'partial' });
    expect((await list.freshness())?.reason).toBe('a list contains a key twice: nothing is retired');
    // It does not count as one of the two walks that prove an absence either.
    expect((await list.walk(unchanged)).result.status).toBe('partial');
    expect(current(await list.members())).toContain(120);
    expect((await list.walk(unchanged)).result).toMatchObject({ status: 'done', rowsWritten: [1] });
    expect(current(await list.members())).not.toContain(120);
  });

  it('retires no member by a walk whose total differs from its items', async () => {
    const list = createRecorder(250);
    await list.walk(unchanged);
    const { result } = await list.walk({ ...between(remove(7)), hasTotal: true });
    expect(result).toMatchObject({ status: 'partial', rowsWritten: [0] });
    expect((await list.freshness())?.reason).toBe(
      'the response contradicts itself: total is 250, and its pages have 249: nothing is retired',
    );
    await list.walk(unchanged);
    expect(current(await list.members())).toHaveLength(250);
  });

  it('counts members that are shown again after an expired token, and does not report them as repeated', async () => {
    const list = createRecorder(250);
    await list.walk(unchanged);
    expect((await list.walk({ ...unchanged, expiredCall: 3 })).result).toMatchObject({
      status: 'done',
      pages: 5,
    });
  });
});

describe('a list with two recorded datasets', () => {
  it('retires no member in one of them by walks that show a member of the other one twice', async () => {
    const feed = scriptedFeed([subnets, blockchains], { network: 'two-datasets' });
    const subnet = (name: string, ...chains: string[]) => ({
      subnetId: `two-${name}`,
      blockchains: chains.map((chain) => ({ blockchainId: `two-${chain}` })),
    });
    const [a, b, c, d] = [
      subnet('a', 'chain-a'),
      subnet('b', 'chain-b'),
      subnet('c', 'chain-c'),
      subnet('d'),
    ];
    const page = (...items: unknown[]) => ({
      body: { subnets: items },
      proven: null,
      last: false,
      whole: true,
    });
    const clock = new ManualClock(Date.UTC(2026, 0, 10));
    const walk = async (first: unknown[], second: unknown[]) => {
      clock.now += 60_000;
      feed.script = () =>
        pagesOf([
          { ...page(...first), startsList: true },
          { ...page(...second), last: true },
        ]);
      return (await run(recordingContext(sql, clock.read), feed)).status;
    };
    const selectListed = async () => {
      const rows = await sql<{ id: string }[]>`
        select blockchain_id as id from recorder.blockchains
        where network = 'two-datasets' and valid_to is null order by 1`;
      return rows.map(({ id }) => id);
    };
    expect(await walk([a, b], [c, d])).toBe('done');
    // b and d change their places between the two pages: d, which has no blockchain, is shown twice, and b is not
    // shown.
    for (let times = 0; times < 3; times++) expect(await walk([a, d], [c, d])).toBe('partial');
    expect(await selectListed()).toEqual(['two-chain-a', 'two-chain-b', 'two-chain-c']);
    const reasons = await sql`
      select distinct incomplete_reason as reason from recorder.target_datasets where target_key = 'network=two-datasets'`;
    expect([...reasons]).toEqual([{ reason: 'a list contains a key twice: nothing is retired' }]);
    // Consistent walks retire it.
    await walk([a, d], [c]);
    await walk([a, d], [c]);
    expect(await selectListed()).toEqual(['two-chain-a', 'two-chain-c']);
  });
});

it('keeps listed members, and ends removed ones, however a list changes', async () => {
  const stakes = await checkMovingLists(sql, 240);
  expect(Math.min(...Object.values(stakes)), JSON.stringify(stakes)).toBeGreaterThan(10);
});
