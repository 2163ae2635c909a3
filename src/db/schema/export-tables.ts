import { bigint, integer, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/** The exports that a recorder's configuration asks for, and how each stands. Instants are the database's. */
export const scheduledExports = recorder.table(
  'exports',
  {
    recorder: text().notNull(),
    /** Where it goes, as the configuration has it. */
    place: text().notNull(),
    /** Null: all. */
    datasets: text().array(),
    format: text().notNull(),
    every_ms: bigint({ mode: 'number' }).notNull(),
    wanted_at: instant().notNull(),
    /** When the last attempt began; null: there was none. */
    began_at: instant(),
    last_success_at: instant(),
    /** Up to when the record is exported: of the last success. */
    exported_at: instant(),
    last_failure_at: instant(),
    /** Since when every attempt failed, how many, and why the last one did; null: the last one succeeded. */
    failing_since: instant(),
    failures: integer().notNull().default(0),
    error: text(),
    /** Of the last success: its number in the manifest, and what it wrote. */
    export: integer(),
    rows: bigint({ mode: 'number' }),
    bytes: bigint({ mode: 'number' }),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.place] })],
);
