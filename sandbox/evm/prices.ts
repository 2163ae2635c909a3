import type { JsonObject } from '../json.ts';
import { between, unit } from '../random.ts';
import type { EvmNetwork } from './evm-network.ts';

/** The currencies of prices. */
export const CURRENCIES = [
  'usd',
  'eur',
  'aud',
  'cad',
  'chf',
  'clp',
  'cny',
  'czk',
  'dkk',
  'gbp',
  'hkd',
  'huf',
  'jpy',
  'nzd',
] as const;

export type Currency = (typeof CURRENCIES)[number];

/**
 * Returns the price of a chain's token at a time (Unix seconds). Returns undefined for the chain with number
 * 3.
 */
export function price(network: EvmNetwork, currency: Currency, sec: number, token = 0): number | undefined {
  if (network.chain.number === 3) return undefined;
  const rate = 1 + CURRENCIES.indexOf(currency) * 0.37;
  const usd =
    between(network.seed, 2, 40, token, 6) *
    (0.9 + 0.2 * unit(network.seed, token, Math.floor(sec / 3600), 7));
  return Number((usd * rate).toFixed(6));
}

/** Returns a Price with a value as a JSON number. Returns undefined if the value is unknown. */
export function money(currency: Currency, value: number | undefined): JsonObject | undefined {
  return value === undefined ? undefined : { currencyCode: currency, value };
}

/** Returns the native token of a chain. */
export function networkToken(network: EvmNetwork): JsonObject {
  const { name, symbol } = network.chain.token;
  return {
    name,
    symbol,
    decimals: 18,
    logoUri: 'https://example.org/logo.png',
    description: `The token of ${network.chain.name}`,
  };
}
