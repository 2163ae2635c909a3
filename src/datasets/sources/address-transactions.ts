import type { Source } from '../contract.ts';
import { allBlocks, blockPages } from './block-windows.ts';
import { hour } from './durations.ts';

/**
 * One of the lists of what watched EVM addresses took part in, newest first (seed chain-data 4.7, 4.8).
 * @param operation what follows `transactions:` in its path
 */
export function addressTransactions(name: string, operation: 'listNative' | 'listErc1155'): Source {
  return {
    name,
    upstream: 'chainData',
    every: hour,
    weight: 20,
    calls: 1,
    paged: true,
    range: allBlocks,
    targets: ({ watch }) => watch.evmAddresses.map(({ chain: chainId, address }) => ({ chainId, address })),
    walk: (ask, { chainId, address }, window) =>
      blockPages(
        ask,
        {
          path: `/v1/chains/${chainId}/addresses/${address}/transactions:${operation}`,
          list: 'transactions',
        },
        window,
      ),
  };
}
