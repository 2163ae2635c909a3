import { hex, object, optional } from '../fields.ts';

/** BLS key of a validator. */
export const blsCredentials = object({ publicKey: optional(hex()), proofOfPossession: optional(hex()) });
