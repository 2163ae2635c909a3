import { hex, object, optional } from '../fields.ts';

/** BLS key of a validator (seed chain-data 2.1). */
export const blsCredentials = object({ publicKey: optional(hex()), proofOfPossession: optional(hex()) });
