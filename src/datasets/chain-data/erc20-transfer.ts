import { count, hex, object, optional, text, uint } from '../fields.ts';
import { price } from './price.ts';
import { richAddress } from './rich-address.ts';

/** An ERC-20 transfer in a transaction (seed chain-data 2.6). */
export const erc20Transfer = object({
  logIndex: optional(count()),
  from: optional(richAddress),
  to: optional(richAddress),
  value: optional(uint()),
  erc20Token: optional(
    object({
      address: optional(hex()),
      name: optional(text()),
      symbol: optional(text()),
      decimals: optional(count()),
      logoUri: optional(text()),
      ercType: optional(text()),
      price: optional(price),
    }),
  ),
});
