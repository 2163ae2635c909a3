import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { proposedBlocks } from '../../../src/datasets/chain-data/proposed-blocks.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { block, blocksTarget } from '../../support/blocks.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, pagesWith, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 0, 10);

describe('log', () => {
  it('stores every row once, as first observed, despite overlaps', async () => {
    const page = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 8 });
    const runs = fc.array(fc.array(page, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(runs, async (recordedRuns) => {
        const target = blocksTarget();
        const feed = scriptedFeed(proposedBlocks, target);
        const clock = new ManualClock(start);
        const firstSeen = new Map<number, number>();
        for (const pages of recordedRuns) {
          clock.now += 1000;
          feed.script = () =>
            pagesWith(
              pages.map((numbers) => ({
                blocks: numbers.map((number) => block(number, 1_700_000_000 + number)),
              })),
            );
          const fresh = new Set(pages.flat().filter((number) => !firstSeen.has(number)));
          for (const number of fresh) firstSeen.set(number, clock.now);
          expect(await run(recordingContext(sql, clock.read), feed)).toMatchObject({
            rowsWritten: [fresh.size],
          });
        }
        const rows = await sql<{ number: number; at: Date }[]>`
          select block_number::int as number, valid_from as at from reporting.proposed_blocks
          where blockchain_id = ${target.blockchainId ?? ''} order by 1`;
        expect(rows.map(({ number, at }) => [number, at.getTime()])).toEqual(
          [...firstSeen].sort(([a], [b]) => a - b),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('inserts each new row in any order of new and known ones', async () => {
    const knownNumbers = fc.uniqueArray(fc.integer({ min: 0, max: 119 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(knownNumbers, fc.integer({ min: 1, max: 120 }), async (before, count) => {
        const target = blocksTarget();
        const feed = scriptedFeed(proposedBlocks, target);
        const context = recordingContext(sql, new ManualClock(start).read);
        const poll = async (numbers: readonly number[], txCount: number) => {
          feed.script = () =>
            onlyPage({ blocks: numbers.map((number) => block(number, 1_700_000_000, { txCount })) });
          return run(context, feed);
        };
        await poll(before, 1);
        const listed = Array.from({ length: count }, (_, at) => at);
        const fresh = listed.filter((number) => !before.includes(number));
        const repeated = count - fresh.length;
        // A known row has another value, so that it is written, too.
        expect(await poll(listed, 2)).toMatchObject({
          status: 'done',
          rowsWritten: [fresh.length + repeated],
        });
        expect(await poll(listed, 2)).toMatchObject({ status: 'done', rowsWritten: [0] });
        const [stored] = await sql`
          select count(*)::int as current, count(distinct block_number)::int as numbers from reporting.proposed_blocks
          where blockchain_id = ${target.blockchainId ?? ''}`;
        const numbers = new Set([...before, ...listed]).size;
        expect(stored).toEqual({ current: numbers, numbers });
        const [changeFeed] = await sql`
          select coalesce(sum(changes), 0)::int as changes, count(*)::int as commits, coalesce(string_agg(kinds, '' order by run_id), '') as kinds
          from recorder.changes where ${target.blockchainId ?? ''} = any(request)`;
        expect(changeFeed).toEqual({
          changes: before.length + count,
          commits: before.length > 0 ? 2 : 1,
          kinds: 'a'.repeat(before.length + fresh.length) + 'r'.repeat(repeated),
        });
      }),
      { numRuns: 60, examples: [[[1], 120]] },
    );
  });

  it('keeps both blocks of a number with two hashes', async () => {
    const target = blocksTarget();
    const feed = scriptedFeed(proposedBlocks, target);
    const clock = new ManualClock(start);
    for (const blockHash of ['one', 'other', 'one']) {
      feed.script = () => onlyPage({ blocks: [block(7, 1_700_000_000, { blockHash })] });
      await run(recordingContext(sql, clock.read), feed);
    }
    const rows = await sql`
      select block_hash from reporting.proposed_blocks where blockchain_id = ${target.blockchainId ?? ''} order by 1`;
    expect(rows.map(({ block_hash }) => block_hash)).toEqual(['one', 'other']);
  });
});

it('emits the same changes for rows that are all new as for others', async () => {
  const recordChanges = async (known: number[]) => {
    const target = blocksTarget();
    const feed = scriptedFeed(proposedBlocks, target);
    const clock = new ManualClock(start);
    const blocksOf = (numbers: number[]) =>
      numbers.map((number) => block(number, 1_700_000_000, { blockHash: `{"${number}\\,é` }));
    const emptyPage = { body: { blocks: [] }, proven: null, last: false, whole: true };
    feed.script = async function* () {
      yield emptyPage;
      clock.now += 1_500;
      yield { ...emptyPage, body: { blocks: blocksOf([7, 5, 9, ...known]) }, last: true };
    };
    const context = recordingContext(sql, clock.read);
    const { script } = feed;
    feed.script = () => onlyPage({ blocks: blocksOf(known) });
    await run(context, feed);
    feed.script = script;
    expect(await run(context, feed)).toMatchObject({ rowsWritten: [3] });
    return sql`
        select dataset, request[1] as network, changes, kinds, keys, recorded_at, observed_at from recorder.changes
        where ${target.blockchainId ?? ''} = any(request) order by run_id desc limit 1`;
  };
  const [fresh, others] = [await recordChanges([]), await recordChanges([3])];
  expect([...fresh]).toEqual([...others]);
  expect(fresh).toMatchObject([{ changes: 3, kinds: 'aaa' }]);
  expect(fresh[0]?.keys.at(-1)).toBe('{1500000,1500000,1500000}');
});

describe('sample', () => {
  it('stores one reading per key and instant, every reading, also equal ones', async () => {
    const feed = scriptedFeed(validatorUptime, { node: 'n', subnetId: 'samples' });
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    const reading = (uptime: string) => ({ nodeID: 'a', uptime, connected: true });
    feed.script = () => onlyPage({ validators: [reading('99.0'), { ...reading('98.0'), nodeID: 'b' }] });
    expect(await run(context, feed)).toMatchObject({ rowsWritten: [2] });
    expect(await run(context, feed)).toMatchObject({ rowsWritten: [0] });
    clock.now += 60_000;
    expect(await run(context, feed)).toMatchObject({ rowsWritten: [2] });
    const rows = await sql<{ node_id: string; uptime: string; observed_at: Date }[]>`
      select node_id, uptime, observed_at from reporting.validator_uptime
      where subnet_id = 'samples' order by observed_at, node_id`;
    expect(
      rows.map(({ node_id, uptime, observed_at }) => [node_id, uptime, observed_at.getTime() - start]),
    ).toEqual([
      ['a', '99.0', 0],
      ['b', '98.0', 0],
      ['a', '99.0', 60_000],
      ['b', '98.0', 60_000],
    ]);
  });

  it('is recorded although users change its view', async () => {
    const feed = scriptedFeed(validatorUptime, { node: 'n', subnetId: 'without a view' });
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    feed.script = () => onlyPage({ validators: [{ nodeID: 'a', uptime: '99.0', connected: true }] });
    await sql`drop view reporting.validator_uptime cascade`;
    expect(await run(context, feed)).toMatchObject({ status: 'done', rowsWritten: [1] });
    expect(await run(context, feed)).toMatchObject({ status: 'done', rowsWritten: [0] });
  });
});
