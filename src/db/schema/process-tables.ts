import { sql } from 'drizzle-orm';
import { bigint, boolean, doublePrecision, index, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/**
 * Every configuration with which `up` was started, by recorder. The newest configuration determines what is
 * recorded.
 */
export const configurations = recorder.table(
  'configurations',
  {
    /** The recorder's name. */
    recorder: text().notNull(),
    /** Digest of the recorded part of the configuration. */
    digest: text().notNull(),
    network: text().notNull(),
    /**
     * Number of the configuration, which grows with every configuration that becomes the newest. A rollback
     * gives the earlier configuration a new number.
     */
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
    /** Host, process id, and a unique number. */
    process: text().primaryKey(),
    recorder: text().notNull(),
    digest: text().notNull(),
    roles: text().array().notNull(),
    started_at: instant().notNull(),
    /** Last heartbeat of the process. */
    seen_at: instant().notNull(),
    /** Time of the clean shutdown; null if the process runs, or was killed. */
    left_at: instant(),
    /** Time at which the HTTP server of the process last reached its maximum of connections; null if never. */
    connections_full_at: instant(),
  },
  (table) => [index('processes_by_recorder').on(table.recorder, table.digest)],
);

/**
 * Replicas that processes read from, with the latest state that any process found. Instants are by the
 * primary's clock.
 */
export const replicas = recorder.table(
  'replicas',
  {
    /** The recorder's name. */
    recorder: text().notNull(),
    /** Host, port and database. */
    replica: text().notNull(),
    /** Lag behind the primary, in s; null if unknown. */
    lag_seconds: doublePrecision(),
    /** Lag behind the primary, in bytes of WAL; null if unknown. */
    lag_bytes: bigint({ mode: 'number' }),
    /** Reason why the replica is not used, or should not be used; null if there is no such reason. */
    error: text(),
    /** Start of the problem in `error`; null if there is no problem. */
    error_since: instant(),
    /** Time since which the replica is far behind the primary; null if the replica is not far behind. */
    behind_since: instant(),
    seen_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.replica] })],
);

/**
 * State of the queues, stored by the process that holds the schedules, for readers without access to the
 * queue.
 */
export const queues = recorder.table(
  'queues',
  {
    /** The recorder's name. */
    recorder: text().notNull(),
    /** `polls` or `heals`. */
    queue: text().notNull(),
    /** Number of waiting jobs; null if the queue never responded. */
    waiting: bigint({ mode: 'number' }),
    /** Number of active jobs; null if the queue never responded. */
    active: bigint({ mode: 'number' }),
    /** Reason why no job is processed; null if there is no such reason. */
    error: text(),
    /** Start of the problem in `error`; null if there is no problem. */
    error_since: instant(),
    seen_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.queue] })],
);
