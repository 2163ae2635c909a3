import { hex, object, optional } from '../fields.ts';

/** A validator's BLS key (seed chain-data 2.1). */
export const blsCredentials = object({ publicKey: optional(hex()), proofOfPossession: optional(hex()) });
