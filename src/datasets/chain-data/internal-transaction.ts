import { flag, object, optional, text, uint } from '../fields.ts';
import { richAddress } from './rich-address.ts';

/** A call inside a transaction. */
export const internalTransaction = object({
  from: optional(richAddress),
  to: optional(richAddress),
  internalTxType: optional(text()),
  value: optional(uint('In the smallest unit of the native token.')),
  isReverted: optional(flag()),
  gasUsed: optional(uint()),
  gasLimit: optional(uint()),
});
