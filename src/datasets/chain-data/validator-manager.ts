import { hex, object, optional, text } from '../fields.ts';

/** The contract that manages the validators of an L1 (seed chain-data 2.1, L1ValidatorManagerDetails). */
export const validatorManager = object({ blockchainId: optional(text()), contractAddress: optional(hex()) });
