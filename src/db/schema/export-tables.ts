import { bigint, integer, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/** Exports in a recorder's configuration, and their state. Instants are by the database's clock. */
export const scheduledExports = recorder.table(
  'exports',
  {
    recorder: text().notNull(),
    /** Destination, as configured. */
    destination: text().notNull(),
    /** Null for all datasets. */
    datasets: text().array(),
    format: text().notNull(),
    every_ms: bigint({ mode: 'number' }).notNull(),
    requested_since: instant().notNull(),
    /** Start of the last attempt; null if there was no attempt. */
    began_at: instant(),
    last_success_at: instant(),
    /** Instant up to which the last successful export contains the record. */
    exported_at: instant(),
    last_failure_at: instant(),
    /** Start of the consecutive failures; null if the last attempt succeeded. */
    failing_since: instant(),
    /** Number of consecutive failures. */
    failures: integer().notNull().default(0),
    /** Error of the last attempt; null if the last attempt succeeded. */
    error: text(),
    /** Number of the last successful export in the manifest. */
    export: integer(),
    /** Number of rows that the last successful export wrote. */
    rows: bigint({ mode: 'number' }),
    /** Number of bytes that the last successful export wrote. */
    bytes: bigint({ mode: 'number' }),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.destination] })],
);
