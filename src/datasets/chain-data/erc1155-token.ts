import { hex, moves, object, optional, text, uint256 } from '../fields.ts';
import { tokenMetadata } from './token-metadata.ts';

/** An ERC-1155 token. */
export const erc1155Token = object({
  address: optional(hex()),
  ercType: optional(text()),
  tokenId: uint256(),
  tokenUri: moves(optional(text())),
  metadata: moves(optional(tokenMetadata)),
});
