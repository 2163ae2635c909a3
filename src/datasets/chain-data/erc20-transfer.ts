import { count, hex, moves, object, optional, text, uint } from '../fields.ts';
import { price } from './price.ts';
import { richAddress } from './rich-address.ts';

/** An ERC-20 transfer in a transaction. */
export const erc20Transfer = object({
  logIndex: optional(count()),
  from: optional(richAddress),
  to: optional(richAddress),
  value: optional(uint()),
  erc20Token: optional(
    object({
      address: optional(hex()),
      name: moves(optional(text())),
      symbol: moves(optional(text())),
      decimals: moves(optional(count())),
      logoUri: moves(optional(text())),
      ercType: optional(text()),
      price: moves(optional(price)),
    }),
  ),
});
