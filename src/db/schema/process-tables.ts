import { sql } from 'drizzle-orm';
import { bigint, boolean, doublePrecision, index, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/** Every configuration that `up` was started with, by recorder; the newest one decides what is recorded. */
export const configurations = recorder.table(
  'configurations',
  {
    /** The recorder's name. */
    recorder: text().notNull(),
    /** The digest of what the configuration asks for. */
    digest: text().notNull(),
    network: text().notNull(),
    /** Grows with every configuration that becomes the newest. A rollback gives the earlier one a new number. */
    generation: bigint({ mode: 'number' }).notNull(),
    newest: boolean().notNull(),
    first_seen_at: instant().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.recorder, table.digest] }),
    uniqueIndex('configurations_newest').on(table.recorder).where(sql`newest`),
  ],
);

/** The processes of `up`, by the database's clock. */
export const processes = recorder.table(
  'processes',
  {
    /** Host, process id, and a number of its own. */
    process: text().primaryKey(),
    recorder: text().notNull(),
    digest: text().notNull(),
    roles: text().array().notNull(),
    started_at: instant().notNull(),
    /** Its last sign of life. */
    seen_at: instant().notNull(),
    /** When it stopped in order; null: it still runs, or was killed. */
    left_at: instant(),
    /** When the server of the process last had its maximum of connections; null: never. */
    connections_full_at: instant(),
  },
  (table) => [index('processes_by_recorder').on(table.recorder, table.digest)],
);

/** The replicas that processes read from, as one of them saw each last. Instants are the primary's. */
export const replicas = recorder.table(
  'replicas',
  {
    /** The recorder's name. */
    recorder: text().notNull(),
    /** Host, port and database. */
    place: text().notNull(),
    /** How far it was behind; null: that cannot be told. */
    lag_seconds: doublePrecision(),
    lag_bytes: bigint({ mode: 'number' }),
    /** Why it is not, or should not be, read from, and since when; null: nothing is wrong with it. */
    trouble: text(),
    trouble_since: instant(),
    /** Since when it is far behind; null: it is not. */
    behind_since: instant(),
    seen_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.place] })],
);

/** The queues, as whoever holds the schedules saw them last: for readers that cannot read the queue. */
export const queues = recorder.table(
  'queues',
  {
    /** The recorder's name. */
    recorder: text().notNull(),
    /** `polls` or `heals`. */
    queue: text().notNull(),
    /** Jobs that wait, and jobs at work; null: it never gave an answer. */
    waiting: bigint({ mode: 'number' }),
    active: bigint({ mode: 'number' }),
    /** Why nothing is taken out of it, and since when; null: nothing is wrong with it. */
    trouble: text(),
    trouble_since: instant(),
    seen_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.queue] })],
);
