import { decimal, object, optional, text } from '../fields.ts';

/**
 * A price or value in a currency (seed chain-data 2.1). The service sends a number, although the seed
 * specifies a string.
 */
export const price = object({ currencyCode: optional(text()), value: optional(decimal()) });
