import { count, object, optional, set, text } from '../fields.ts';

/**
 * References to unspent outputs. Null if there are none (upstream-services.md#transport).
 */
export const utxoReferences = (meaning: string) =>
  optional(set(object({ txID: text(), outputIndex: count() }), meaning));
