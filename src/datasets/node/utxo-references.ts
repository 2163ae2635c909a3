import { count, object, optional, set, text } from '../fields.ts';

/**
 * References to unspent outputs (seed node-rpc section 2, UtxoRef). Null if there are none (reality.md 0, row
 * 18).
 */
export const utxoReferences = (meaning: string) =>
  optional(set(object({ txID: text(), outputIndex: count() }), meaning));
