import { count, hex, moves, object, optional, text, uint } from '../fields.ts';
import { richAddress } from './rich-address.ts';
import { tokenMetadata } from './token-metadata.ts';

/** An ERC-721 transfer in a transaction. */
export const erc721Transfer = object({
  logIndex: optional(count()),
  from: optional(richAddress),
  to: optional(richAddress),
  erc721Token: optional(
    object({
      address: optional(hex()),
      name: moves(optional(text())),
      symbol: moves(optional(text())),
      ercType: optional(text()),
      tokenId: optional(uint()),
      tokenUri: moves(optional(text())),
      ownerAddress: moves(optional(hex())),
      metadata: moves(optional(tokenMetadata)),
    }),
  ),
});
