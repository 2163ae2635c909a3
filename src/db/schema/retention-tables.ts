import { bigint, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/**
 * Start of the complete record of each dataset: one row for each that ever had a retention. The start only
 * moves forward.
 */
export const retention = recorder.table('retention', {
  /** A dataset, `runs` or `quarantine`. */
  dataset: text().primaryKey(),
  /** Data that only earlier times need may be removed. It is set before anything is removed. */
  kept_since: instant().notNull(),
  moved_at: instant().notNull(),
  /** When the removal was finished; null while it runs, or if no process does it. */
  finished_at: instant(),
  /** Total number of removed rows and readings. */
  removed: bigint({ mode: 'number' }).notNull().default(0),
  removed_at: instant(),
});
