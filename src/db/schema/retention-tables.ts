import { bigint, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/** From when on each dataset is kept whole: one row for each that ever had a retention. The begin only moves forward. */
export const retention = recorder.table('retention', {
  /** A dataset, `runs` or `quarantine`. */
  dataset: text().primaryKey(),
  /** What nobody needs for the time from here on may be gone. It is set before anything is removed. */
  kept_since: instant().notNull(),
  moved_at: instant().notNull(),
  /** When all of it that was to go was gone; null: it is being removed, or nobody does it. */
  finished_at: instant(),
  /** Rows and readings removed, ever. */
  removed: bigint({ mode: 'number' }).notNull().default(0),
  removed_at: instant(),
});
