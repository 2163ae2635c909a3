import type { Source } from '../contract.ts';
import { allBlocksRange, walkBlockPages } from './block-windows.ts';
import { hour } from './durations.ts';

/**
 * Returns the source of one of the lists of transactions of watched EVM addresses, newest first.
 * @param operation suffix of its path after `transactions:`
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
    walk: (ask, { chainId, address }, window) =>
      walkBlockPages(
        ask,
        {
          path: `/v1/chains/${chainId}/addresses/${address}/transactions:${operation}`,
          list: 'transactions',
        },
        window,
      ),
  };
}
