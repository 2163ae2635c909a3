import { type Ask, OPEN_END, type Page, type Range, type Window } from '../contract.ts';
import { blockAt, type ChainOfBlocks, headOf } from './chain-of-blocks.ts';

const PAGE = 50;
const MOST_BLOCKS = 500;
/** Distance from the head at which a recording starts. */
const FIRST_BLOCKS = 100;

/**
 * Every block is final and requested only once. A new recording starts near the newest block, whose height
 * only the node knows.
 */
export const blockRange: Range = {
  axis: 'height',
  span: () => Number.POSITIVE_INFINITY,
  head: () => 1,
  settle: 0,
  lookback: 0,
};

/**
 * Requests the blocks of a window upwards, one call each, at most {@link MOST_BLOCKS} per run. If more are
 * left, the walk does not end with the last page, and the next run continues. A window that starts at the
 * open end belongs to a new recording without blocks.
 */
export async function* blocksUpwards(
  ask: Ask,
  chain: ChainOfBlocks,
  window: Window | null,
): AsyncGenerator<Page> {
  const { from: known, to: end } = window ?? { from: OPEN_END, to: OPEN_END };
  const begins = known >= OPEN_END - 1;
  const head = await headOf(ask, chain, begins ? 0 : known);
  const from = begins ? Math.max(head - FIRST_BLOCKS, 0) : known;
  const to = Math.min(end, head + 1);
  const until = Math.min(to, from + MOST_BLOCKS);
  // Without a new block, the newest recorded one is requested again, because the chain may be another one, or
  // an older state of it.
  const again = end === OPEN_END && head < from && head >= 0 && from > 0 ? Math.min(head, from - 1) : null;
  for (let first = from; ; ) {
    const blocks: unknown[] = again === null ? [] : [await blockAt(ask, chain, again)];
    for (; first < until && blocks.length < PAGE; first++) blocks.push(await blockAt(ask, chain, first));
    const last = first >= to;
    const left = first >= until && !last;
    yield {
      body: { blocks },
      head,
      proven: first > from ? { from, to: first } : null,
      last,
      whole: true,
      ...(left ? { note: `${to - first} blocks are left for the next runs` } : {}),
    };
    if (last || left) return;
  }
}
