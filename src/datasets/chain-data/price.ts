import { decimal, object, optional, text } from '../fields.ts';

/**
 * A price or value in a currency. The service sends a number, although its documentation
 * specifies a string.
 */
export const price = object({ currencyCode: optional(text()), value: optional(decimal()) });
