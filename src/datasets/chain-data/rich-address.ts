import { count, hex, moves, object, optional, text } from '../fields.ts';

/** An EVM address with its metadata. */
export const richAddress = object({
  address: optional(hex()),
  name: moves(optional(text())),
  symbol: moves(optional(text())),
  decimals: moves(optional(count())),
  logoUri: moves(optional(text())),
});
