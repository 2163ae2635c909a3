import { hex, object, optional, text } from '../fields.ts';

/** The contract that manages the validators of an L1. */
export const validatorManager = object({ blockchainId: optional(text()), contractAddress: optional(hex()) });
