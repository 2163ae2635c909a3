import type { Source } from '../contract.ts';
import { hour } from '../sources/durations.ts';
import { walkSingleResponse } from '../sources/single-response.ts';

/**
 * Balance of an address in the native token of its chain, with the price in US dollars.
 */
export const nativeBalance: Source = {
  name: 'native-balance',
  upstream: 'chainData',
  every: hour,
  weight: 20,
  calls: 1,
  targets: ({ watch }) => watch.evmAddresses.map(({ chain: chainId, address }) => ({ chainId, address })),
  walk: (client, { chainId, address }) =>
    walkSingleResponse(() => client.get(`/v1/chains/${chainId}/addresses/${address}/balances:getNative`)),
};
