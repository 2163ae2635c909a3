import { expect } from 'vitest';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { loadStates, planDue } from '../../src/recording/plan.ts';
import { record } from '../../src/recording/record.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { block, blocksTarget } from '../support/blocks.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { pagesOf, recordingContext, scriptedFeed } from '../support/recording.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const begin = Date.UTC(2026, 0, 10);

const { it, sql } = withDatabase({ max: 4 });

/** Records for so long from a service that shows each block by its number so much later; gives the numbers that were recorded. */
async function recorded(count: number, later: (number: number) => number, lasts: number, every: number) {
  const { range } = proposedBlocks.source;
  if (!range) throw new Error('proposed blocks have no range');
  const target = blocksTarget();
  const feed = scriptedFeed(proposedBlocks, target, { range: { ...range, lookback: day }, every });
  const clock = new ManualClock(begin);
  const blocks = Array.from({ length: count }, (_, number) => ({ number, at: begin + number * hour }));
  feed.script = (window) => {
    const shown = blocks.filter(
      ({ number, at }) =>
        window && at + later(number) <= clock.now && at >= window.from - 1000 && at <= window.to,
    );
    const items = shown.map(({ number, at }) => block(number, at / 1000)).reverse();
    return pagesOf([{ body: { blocks: items }, proven: window, last: true, whole: true }]);
  };
  const context = recordingContext(sql, clock.read);
  const { signal } = new AbortController();
  await registerTargets(sql, feed, clock.now);
  for (; clock.now < begin + lasts; clock.now += every)
    for (const job of planDue(feed, await loadStates(sql, feed), clock.now))
      expect(await record(context, feed, job, signal)).toMatchObject({ status: 'done' });
  const rows = await sql<{ number: number }[]>`
    select block_number::int as number from recorder.proposed_blocks
    where blockchain_id = ${String(target.blockchainId)} order by block_number`;
  return { rows: rows.map(({ number }) => number), blocks: blocks.map(({ number }) => number) };
}

it('blocks that an index shows within an hour are recorded by the next polls', async () => {
  const { rows, blocks } = await recorded(
    24,
    (number) => (number % 6) * 10 * minute,
    day + hour,
    10 * minute,
  );
  expect(rows).toEqual(blocks);
});

it('blocks that an index shows days later are recorded within 30 days', async () => {
  const { rows, blocks } = await recorded(5 * 24, (number) => (number % 5) * day, 40 * day, 6 * hour);
  expect(rows).toEqual(blocks);
});
