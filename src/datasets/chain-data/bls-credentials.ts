import { object, optional, text } from '../fields.ts';

/** A validator's BLS key (seed chain-data 2.1). */
export const blsCredentials = object({ publicKey: optional(text()), proofOfPossession: optional(text()) });
