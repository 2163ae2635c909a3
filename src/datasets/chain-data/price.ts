import { decimal, object, optional, text } from '../fields.ts';

/** A price or value in a currency (seed chain-data 2.1); the service sends a number where the seed says string. */
export const price = object({ currencyCode: optional(text()), value: optional(decimal()) });
