import {
  OPEN_END,
  type Range,
  type RequestedWindow,
  type Source,
  type SourcePage,
  type UpstreamClient,
  type Window,
} from '../contract.ts';
import { getList } from './answer.ts';
import { ConfirmedBlock, readBlockNumber } from './confirmed-block.ts';
import { day, hour } from './durations.ts';
import { fetchPages, type PagedList } from './pages.ts';
import { unixSecondsReader } from './time-windows.ts';

const PAGE_SIZE = 100;

/**
 * A single window from the first block to the newest, because the number of items of an address is unknown in
 * advance. Unclaimed items, those of the last 14 days, are requested again daily.
 */
export const allBlocksRange: Range = {
  axis: 'height',
  span: () => Number.POSITIVE_INFINITY,
  head: () => 0,
  settle: 14 * day,
  lookback: Number.POSITIVE_INFINITY,
  index: {
    name: ({ chainId = '' }) => chainId,
    timeOf: unixSecondsReader('blockTimestamp'),
    page: PAGE_SIZE,
  },
};

/**
 * Requests the pages of a list of items in blocks, newest first, inside a window of heights. The height of
 * the chain is known only from the items. So in a window with an open end, `proven` ends at the newest
 * confirmed block.
 * @throws UpstreamFailure under the conditions of {@link fetchPages}
 */
async function* walkBlockPages(
  client: UpstreamClient,
  list: Pick<PagedList, 'path' | 'list'>,
  window: RequestedWindow | null,
): AsyncGenerator<SourcePage> {
  const confirmed = new ConfirmedBlock(window?.reach ?? window?.from ?? 0, allBlocksRange.settle);
  for await (const page of fetchPages(
    client,
    {
      ...list,
      query: { pageSize: client.pageSize(PAGE_SIZE) },
      within: blockWindowQuery,
      at: readBlockNumber,
      step: 1,
    },
    window,
  )) {
    confirmed.take(getList(page.body, list.list), client.now);
    const { claimable } = confirmed;
    yield {
      ...page,
      proven: confirmedPart(page.proven, confirmed.height),
      ...(claimable === null ? {} : { claimable }),
    };
  }
}

/**
 * Returns the query of a window of blocks. `startBlock` is inclusive, `endBlock` exclusive.
 */
function blockWindowQuery({ from, to }: Window): Readonly<Record<string, number>> {
  return to === OPEN_END ? { startBlock: from } : { startBlock: from, endBlock: to };
}

/**
 * Returns the proven part up to the newest confirmed block. A window with a fixed end needs no confirmation,
 * because an earlier response contained a newer block.
 */
function confirmedPart(proven: Window | null, newest: number | null): Window | null {
  if (!proven || proven.to !== OPEN_END) return proven;
  return newest !== null && proven.from <= newest ? { from: proven.from, to: newest + 1 } : null;
}

/**
 * Returns the source of one of the lists of transactions of watched EVM addresses, newest first.
 * @param operation suffix of the path after `transactions:`
 */
export function addressTransactions(name: string, operation: 'listNative' | 'listErc1155'): Source {
  return {
    name,
    upstream: 'chainData',
    every: hour,
    weight: 20,
    calls: 1,
    paged: true,
    range: allBlocksRange,
    targets: ({ watch }) => watch.evmAddresses.map(({ chain: chainId, address }) => ({ chainId, address })),
    walk: (client, { chainId, address }, window) =>
      walkBlockPages(
        client,
        {
          path: `/v1/chains/${chainId}/addresses/${address}/transactions:${operation}`,
          list: 'transactions',
        },
        window,
      ),
  };
}
