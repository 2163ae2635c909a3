import { type Ask, OPEN_END, type Page, type Range, type Window } from '../contract.ts';
import { listIn } from './answer.ts';
import { blockOf, ConfirmedBlock } from './confirmed-block.ts';
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
 * known only from the items. In a window with an open end, `proven` therefore ends some blocks below the newest one that is confirmed.
 * @throws UpstreamFailure as {@link pages} does
 */
export async function* blockPages(
  ask: Ask,
  list: Pick<PagedList, 'path' | 'query' | 'list'>,
  window: Window | null,
): AsyncGenerator<Page> {
  const confirmed = new ConfirmedBlock(window?.from ?? 0);
  for await (const page of pages(ask, { ...list, within: blocksWithin, at: blockOf, step: 1 }, window)) {
    confirmed.take(listIn(page.body, list.list), ask.now);
    yield { ...page, proven: settledPart(page.proven, confirmed.height) };
  }
}

/** The query of a window of blocks: `startBlock` is inclusive, `endBlock` exclusive (seed chain-data 4.7). */
function blocksWithin({ from, to }: Window): Readonly<Record<string, number>> {
  return to === OPEN_END ? { startBlock: from } : { startBlock: from, endBlock: to };
}

/** The settled part of what is proven. A window with a fixed end lies below what was covered before, and is settled. */
function settledPart(proven: Window | null, newest: number | null): Window | null {
  if (!proven || proven.to !== OPEN_END) return proven;
  const to = (newest ?? 0) + 1 - SETTLING_BLOCKS;
  return proven.from < to ? { from: proven.from, to } : null;
}
