import { type Ask, OPEN_END, type Page, type Range, type Window } from '../contract.ts';
import { listIn, memberOf } from './answer.ts';
import { type PagedList, pages } from './pages.ts';

/** The newest blocks may still be missing from the index, or be replaced: they do not count as covered, and are asked again. */
const SETTLING_BLOCKS = 20;

/** One window from the first block to the newest, because it is not known in advance how many items an address has. */
export const allBlocks: Range = {
  axis: 'height',
  span: () => Number.POSITIVE_INFINITY,
  head: () => 0,
  settle: 0,
  lookback: Number.POSITIVE_INFINITY,
};

/**
 * Follows the pages of a list of things in blocks, newest first, inside a window of heights. The height of the chain is
 * known only from the items. In a window with an open end, `proven` therefore ends some blocks below the newest item.
 * @throws UpstreamFailure as {@link pages} does
 */
export async function* blockPages(
  ask: Ask,
  list: Pick<PagedList, 'path' | 'query' | 'list'>,
  window: Window | null,
): AsyncGenerator<Page> {
  let newest = Number.NEGATIVE_INFINITY;
  for await (const page of pages(ask, { ...list, within: blocksWithin, at: blockOf, step: 1 }, window)) {
    for (const item of listIn(page.body, list.list)) newest = Math.max(newest, blockOf(item) ?? newest);
    yield { ...page, proven: settledPart(page.proven, newest) };
  }
}

/** The query of a window of blocks: `startBlock` is inclusive, `endBlock` exclusive (seed chain-data 4.7). */
function blocksWithin({ from, to }: Window): Readonly<Record<string, number>> {
  return to === OPEN_END ? { startBlock: from } : { startBlock: from, endBlock: to };
}

/** An item's block; null where it cannot be read. */
function blockOf(item: unknown): number | null {
  const block = memberOf(item, 'blockNumber');
  const height = typeof block === 'string' && /^\d+$/.test(block) ? Number(block) : block;
  return typeof height === 'number' && Number.isSafeInteger(height) ? height : null;
}

/** The settled part of what is proven. A window with a fixed end lies below what was covered before, and is settled. */
function settledPart(proven: Window | null, newest: number): Window | null {
  if (!proven || proven.to !== OPEN_END) return proven;
  const to = newest + 1 - SETTLING_BLOCKS;
  return proven.from < to ? { from: proven.from, to } : null;
}
