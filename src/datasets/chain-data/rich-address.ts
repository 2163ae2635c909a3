import { count, hex, object, optional, text } from '../fields.ts';

/** An EVM address with what is known about it (seed chain-data 2.1, EvmAddress). */
export const richAddress = object({
  address: optional(hex()),
  name: optional(text()),
  symbol: optional(text()),
  decimals: optional(count()),
  logoUri: optional(text()),
});
