import { defineDataset } from '../dataset.ts';
import { count, object, optional, text, uint256 } from '../fields.ts';
import { getObject } from '../sources/answer.ts';
import { nativeBalance } from './native-balance.ts';

/**
 * Native balances without their prices. Prices change independently of the balance, and are in
 * native_balance_values.
 */
export const nativeBalances = defineDataset({
  name: 'native_balances',
  about: 'Balances of watched EVM addresses in the native token of their chain.',
  operations: ['GET /v1/chains/{chainId}/addresses/{address}/balances:getNative'],
  history: 'state',
  source: nativeBalance,
  request: ['chainId', 'address'],
  key: ['chain_id', 'address'],
  items: (body) => [getObject(body, 'nativeTokenBalance')],
  states: { chainId: ['chainId'] },
  ignore: ['chainId', 'price', 'balanceValue'],
  item: object({
    balance: uint256('In the smallest unit of the token.'),
    name: optional(text()),
    symbol: optional(text()),
    decimals: optional(count()),
    logoUri: optional(text()),
  }),
  example: {
    name: 'Avalanche',
    symbol: 'AVAX',
    decimals: 18,
    logoUri: 'https://example.org/avax.png',
    chainId: '43114',
    price: { currencyCode: 'usd', value: 42.42 },
    balance: '2000000000000000000',
    balanceValue: { currencyCode: 'usd', value: 84.84 },
  },
});

export const { table: nativeBalancesTable } = nativeBalances;
