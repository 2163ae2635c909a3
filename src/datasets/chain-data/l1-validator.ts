import { object, optional, text, uint } from '../fields.ts';
import { blsCredentials } from './bls-credentials.ts';

/** Effect of a transaction on an L1 validator. */
export const l1Validator = object({
  validationId: optional(text()),
  validationIdHex: optional(text()),
  nodeId: optional(text()),
  subnetId: optional(text()),
  weight: optional(uint()),
  remainingBalance: optional(uint()),
  balanceChange: optional(uint()),
  blsCredentials: optional(blsCredentials),
});
