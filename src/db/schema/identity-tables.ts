import { bigint, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/** The node bound to each configured name, and any other node that responded instead. */
export const nodeBindings = recorder.table('node_bindings', {
  node: text().primaryKey(),
  /** Null if no node of the configured network has responded yet, or if the node does not report an id. */
  node_id: text(),
  network_id: bigint({ mode: 'number' }),
  /** Id of the first block of the P-chain; null if the node does not serve that block. */
  genesis_id: text(),
  /** `first sight` or `configuration`. */
  bound_by: text().notNull(),
  bound_at: instant().notNull(),
  /** Time at which the responding node was last verified to be this node. */
  verified_at: instant(),
  /** Identity of another node that responds instead, and the fix; null if the bound node responds. */
  difference: text(),
  differs_since: instant(),
  /** Time at which the difference was last seen. */
  differs_at: instant(),
  /** Place of the difference: a digest of the URL and of the configured node id. */
  differs_where: text(),
});
