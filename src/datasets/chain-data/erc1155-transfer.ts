import { count, object, optional, uint256 } from '../fields.ts';
import { erc1155Token } from './erc1155-token.ts';
import { richAddress } from './rich-address.ts';

/** An ERC-1155 transfer, in a transaction or in a separate list. */
export const erc1155Transfer = object({
  logIndex: count(),
  from: optional(richAddress),
  to: optional(richAddress),
  value: optional(uint256()),
  erc1155Token,
});
