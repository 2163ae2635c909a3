import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  index,
  jsonb,
  primaryKey,
  serial,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Observers of nodes: the process that probes for each observer, and the end of the observer's ledger. */
export const healthObservers = recorder.table('health_observers', {
  observer: text().primaryKey(),
  /** Process that probes; null if no process does. */
  holder: text(),
  /** End of the lease by the database's clock. After this time, another process may take over. */
  lease_until: instant(),
  /** Open intervals are final up to this instant. */
  heartbeat_at: instant(),
  /** Probes whose rows the database refuses, with start and reason; null if there are no such probes. */
  refused: jsonb(),
});

/** The uptime ledger: results of a probe and of each of its checks, one row per interval without a change. */
export const healthIntervals = recorder.table(
  'node_health',
  {
    observer: text().notNull(),
    node: text().notNull(),
    probe: text().notNull(),
    /** A check of the node; `*` for the probe as a whole. */
    check_name: text().notNull(),
    state: text().notNull(),
    error: text(),
    message: jsonb(),
    /** Unknown fields of an item, as in every table of a dataset; always null in the ledger. */
    extra: jsonb(),
    started_at: instant().notNull(),
    /** Null while the interval lasts. */
    ended_at: instant(),
    /** For the probe as a whole: true if the node sent a report, so that its checks are known. */
    reported: boolean().notNull().default(true),
    /** Number of probes before the interval. */
    probes_before: bigint({ mode: 'number' }).notNull().default(0),
    /** Number of probes within the interval; null while the interval lasts. */
    probes: bigint({ mode: 'bigint' }),
    /** Start of the failure of the check, as reported by the node. */
    failing_since: instant(),
    /** Number of consecutive failures at the last probe, as reported by the node. */
    failures: bigint({ mode: 'bigint' }),
    /** Last error of the interval; null if it equals the first error. */
    last_error: text(),
    /** Last message of the interval; null if it equals the first message. */
    last_message: jsonb(),
  },
  () => [
    uniqueIndex('node_health_key').on(sql`observer, node, probe, check_name, started_at`),
    uniqueIndex('node_health_now').on(sql`observer, node, probe, check_name`).where(sql`ended_at is null`),
  ],
);

/**
 * Periods in which an observer did not probe at all, stored once for all of its nodes. Intervals continue
 * during such a period.
 */
export const healthAbsences = recorder.table(
  'health_absences',
  {
    observer: text().notNull(),
    started_at: instant().notNull(),
    ended_at: instant().notNull(),
    reason: text().notNull(),
    /** Number of probes before the absence, by node and probe. */
    probe_counts: jsonb(),
  },
  (table) => [primaryKey({ columns: [table.observer, table.started_at] })],
);

/** Values that change at every probe: one row per probe of a node. */
export const healthProbes = recorder.table(
  'health_probes',
  {
    observer: text().notNull(),
    node: text().notNull(),
    probe: text().notNull(),
    /** Total number of probes. */
    probes: bigint({ mode: 'number' }).notNull(),
    probed_at: instant().notNull(),
    /** The first failure, which a second probe has yet to confirm. */
    suspect: jsonb(),
    /** The latest error and message of each check; null if equal to the first error and message. */
    latest: jsonb(),
    /** Start of the hour that `entries` counts. */
    hour: instant(),
    /** The response times of that hour (src/health/latency-entries.ts). */
    entries: bytes(),
  },
  (table) => [primaryKey({ columns: [table.observer, table.node, table.probe] })],
);

/** Response times: one row per week with its hours, and one per month with its days. */
export const healthLatency = recorder.table(
  'health_latency',
  {
    observer: text().notNull(),
    node: text().notNull(),
    probe: text().notNull(),
    /** `week` or `month`. */
    span: text().notNull(),
    starts_at: instant().notNull(),
    entries: bytes().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.span, table.starts_at, table.observer, table.node, table.probe] }),
  ],
);

/** Maintenance announced by command; maintenance in the configuration is not stored here. */
export const healthMaintenance = recorder.table(
  'health_maintenance',
  {
    id: serial().primaryKey(),
    /** Null for every node. */
    node: text(),
    starts_at: instant().notNull(),
    ends_at: instant().notNull(),
    reason: text(),
    announced_at: instant().notNull(),
  },
  (table) => [index('health_maintenance_by_end').on(table.ends_at)],
);

/**
 * Notes of people about incidents of a node, separate from the ledger, which people cannot change. Notes are
 * only added.
 */
export const incidentNotes = recorder.table(
  'incident_notes',
  {
    id: serial().primaryKey(),
    node: text().notNull(),
    /** The moment that the note is about. */
    at: instant().notNull(),
    author: text().notNull(),
    note: text().notNull(),
    written_at: instant().notNull(),
  },
  (table) => [index('incident_notes_by_node').on(table.node, table.at)],
);
