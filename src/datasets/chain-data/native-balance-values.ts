import { defineDataset } from '../dataset.ts';
import { decimal, object, optional, text } from '../fields.ts';
import { getMember, getObject } from '../sources/answer.ts';
import { nativeBalance } from './native-balance.ts';
import { price as money } from './price.ts';

/** Value of a native balance. The value is recorded only if the service has a price. */
export const nativeBalanceValues = defineDataset({
  name: 'native_balance_values',
  about: 'Price of the native token of a chain, and value of the balance of a watched address.',
  operations: ['GET /v1/chains/{chainId}/addresses/{address}/balances:getNative'],
  history: 'sample',
  source: nativeBalance,
  request: ['chainId', 'address'],
  key: ['chain_id', 'address'],
  items: (body) =>
    [getObject(body, 'nativeTokenBalance')].filter(
      (balance) => (getMember(balance, 'price') ?? null) !== null,
    ),
  states: { chainId: ['chainId'] },
  extra: false,
  rename: {
    'price.currencyCode': 'currency_code',
    'price.value': 'price',
    'balanceValue.value': 'balance_value',
  },
  item: object({
    price: object({
      currencyCode: text('Currency, such as usd.'),
      value: decimal('Price of one whole token.'),
    }),
    balanceValue: optional(money),
  }),
  example: {
    price: { currencyCode: 'usd', value: 42.42 },
    balanceValue: { currencyCode: 'usd', value: 84.84 },
  },
});

export const { table: nativeBalanceValuesTable } = nativeBalanceValues;
