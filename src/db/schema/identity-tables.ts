import { bigint, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/** The node that each configured name stands for, and what answered in its place. */
export const nodeBindings = recorder.table('node_bindings', {
  node: text().primaryKey(),
  /** Null: no node of the configured network was seen so far, or it does not report its id. */
  node_id: text(),
  network_id: bigint({ mode: 'number' }),
  /** The id of the first block of the P-chain; null: the node does not serve it. */
  genesis_id: text(),
  /** `first sight` or `configuration`. */
  bound_by: text().notNull(),
  bound_at: instant().notNull(),
  /** When what answered was last found to be this node. */
  verified_at: instant(),
  /** What answers instead, and how to fix it; null: nothing else does. */
  difference: text(),
  differs_since: instant(),
  /** When the difference was last seen. */
  differs_at: instant(),
  /** Where it was seen: a digest of the URL and of the configured node id. */
  differs_where: text(),
});
