import { beforeAll, expect } from 'vitest';
import { proposedBlocks } from '../../../src/datasets/chain-data/proposed-blocks.ts';
import { pBlocks } from '../../../src/datasets/node/p-blocks.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.UTC(2026, 0, 10);
const { it, sql } = withDatabase();

beforeAll(async () => {
  const context = recordingContext(sql, new ManualClock(start + 30 * DAY).read);
  const propose = (blockchainId: string, blocks: readonly (readonly [height: number, at: number])[]) => {
    const feed = scriptedFeed(proposedBlocks, { network: 'mainnet', blockchainId, nodeId: 'NodeID-1' });
    feed.script = () =>
      onlyPage({
        blocks: blocks.map(([height, at]) => ({
          ...proposedBlocks.example,
          blockNumber: String(height),
          blockHash: `${blockchainId} ${height}`,
          blockTimestamp: at / 1000,
          proposerDetails: { proposerNodeId: 'NodeID-1' },
        })),
      });
    return run(context, feed);
  };
  // Of this chain only the blocks proposed by this node are known, and they are rare.
  await propose('c-chain', [
    [100, start + 5 * HOUR],
    [250, start + 2 * DAY + 5 * HOUR],
    [300, start + 3 * DAY + 5 * HOUR],
  ]);
  // A block an hour, every sixth of them proposed by this node.
  const hourly = Array.from({ length: 72 }, (_, at) => ({ height: 1000 + at, time: start + at * HOUR }));
  await propose(
    'p-chain',
    hourly.filter((_, at) => at % 6 === 0).map(({ height, time }) => [height, time]),
  );
  const feed = scriptedFeed(pBlocks, { node: 'n' });
  feed.script = () => onlyPage({ blocks: hourly.map((one) => ({ ...one, time: one.time / 1000 })) });
  await run(context, feed);
});

/** Days with the blocks, the growth of the chain, and the share in percent. */
async function countBlocks(chain: string, from: number, to: number) {
  const rows = await sql<{ at: number; blocks: number; grown: number | null; share: number | null }[]>`
    select day - ${new Date(start)}::date as at, blocks::int, chain_blocks::int as grown, (share_of_blocks * 100)::int as share
    from reporting.blocks_proposed(${new Date(from)}, ${new Date(to)}, 'NodeID-1') where blockchain_id = ${chain} order by day`;
  return rows.map(({ at, blocks, grown, share }) => [at, blocks, grown, share]);
}

it('returns an unknown growth of a chain if no height of the previous day is known', async () => {
  expect(await countBlocks('c-chain', start, start + 4 * DAY)).toEqual([
    [0, 1, null, null],
    [2, 1, null, null],
    [3, 1, 50, 2],
  ]);
});

it('has a row of a validator that proposed no block, for each day that is recorded without a gap', async () => {
  const feed = scriptedFeed(proposedBlocks, {
    network: 'mainnet',
    blockchainId: 'p-chain',
    nodeId: 'NodeID-2',
  });
  feed.script = () => onlyPage({ blocks: [] });
  await run(recordingContext(sql, new ManualClock(start + DAY).read), feed);
  await sql`
    update recorder.coverage set covered = int8multirange(int8range(${start + DAY}, ${start + 2 * DAY + HOUR}))
    where dataset = 'proposed_blocks' and target_key like '%NodeID-2'`;
  const rows = async (to: number) => {
    const found = await sql<{ at: number; blocks: number; grown: number }[]>`
      select day - ${new Date(start)}::date as at, blocks::int, chain_blocks::int as grown
      from reporting.blocks_proposed(${new Date(start)}, ${new Date(start + to)}, 'NodeID-2')`;
    return found.map(({ at, blocks, grown }) => [at, blocks, grown]);
  };
  expect(await rows(4 * DAY)).toEqual([[1, 0, 24]]);
  // Of the last day, only the part in the window counts.
  expect(await rows(2 * DAY + HOUR)).toEqual([
    [1, 0, 24],
    [2, 0, 1],
  ]);
});

it('counts blocks and growth over the same time', async () => {
  expect(await countBlocks('p-chain', start + DAY, start + 3 * DAY)).toEqual([
    [1, 4, 24, 17],
    [2, 4, 24, 17],
  ]);
  expect(await countBlocks('p-chain', start + DAY + 12 * HOUR, start + 2 * DAY + 6 * HOUR)).toEqual([
    [1, 2, 12, 17],
    [2, 1, 6, 17],
  ]);
});
