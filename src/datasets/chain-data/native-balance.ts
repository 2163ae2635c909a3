import type { Source } from '../contract.ts';
import { hour } from '../sources/durations.ts';
import { walkSingleResponse } from '../sources/one-answer.ts';

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
  walk: (ask, { chainId, address }) =>
    walkSingleResponse(() => ask.get(`/v1/chains/${chainId}/addresses/${address}/balances:getNative`)),
};
