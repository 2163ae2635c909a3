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

/** Who watches, one row an observer: which process does so now, and how far the ledger reaches. */
export const healthObservers = recorder.table('health_observers', {
  observer: text().primaryKey(),
  /** The process that probes; null: nobody. */
  holder: text(),
  /** By the database's clock: another process may take over afterwards. */
  lease_until: instant(),
  /** Open intervals are settled up to here. */
  heartbeat_at: instant(),
  /** Probes whose rows the database refuses, with since when and why; null: none. */
  refused: jsonb(),
});

/** The ledger: what a probe and each of its checks said, an interval in which nothing changed a row. */
export const healthIntervals = recorder.table(
  'node_health',
  {
    observer: text().notNull(),
    node: text().notNull(),
    probe: text().notNull(),
    /** A check of the node; `*`: the probe as a whole. */
    check_name: text().notNull(),
    state: text().notNull(),
    error: text(),
    message: jsonb(),
    /** Of every table of a dataset; the ledger leaves it null. */
    extra: jsonb(),
    started_at: instant().notNull(),
    /** Null: it goes on. */
    ended_at: instant(),
    /** Of the probe as a whole: the node gave a report, so that its checks are known. */
    reported: boolean().notNull().default(true),
    /** Looks of the probe before the interval. */
    probes_before: bigint({ mode: 'number' }).notNull().default(0),
    /** Looks within it; null while it goes on. */
    probes: bigint({ mode: 'bigint' }),
    /** Since when the check fails, by the node's own account. */
    failing_since: instant(),
    /** How often it failed in a row at the last, by the node's own count. */
    failures: bigint({ mode: 'bigint' }),
    /** The last words of the interval; null: they are the first. */
    last_error: text(),
    last_message: jsonb(),
  },
  () => [
    uniqueIndex('node_health_key').on(sql`observer, node, probe, check_name, started_at`),
    uniqueIndex('node_health_now').on(sql`observer, node, probe, check_name`).where(sql`ended_at is null`),
  ],
);

/** When an observer did not look at all. It is stored once, whatever the number of nodes; intervals run on beneath it. */
export const healthAbsences = recorder.table(
  'health_absences',
  {
    observer: text().notNull(),
    started_at: instant().notNull(),
    ended_at: instant().notNull(),
    reason: text().notNull(),
    /** Looks before the absence, by node and probe. */
    looks: jsonb(),
  },
  (table) => [primaryKey({ columns: [table.observer, table.started_at] })],
);

/** What changes at every look: one row a probe of a node. */
export const healthProbes = recorder.table(
  'health_probes',
  {
    observer: text().notNull(),
    node: text().notNull(),
    probe: text().notNull(),
    /** All looks ever. */
    probes: bigint({ mode: 'number' }).notNull(),
    probed_at: instant().notNull(),
    /** The first failure that a second look has yet to confirm. */
    suspect: jsonb(),
    /** The latest error and message of each check; null: they are still the first ones. */
    latest: jsonb(),
    /** The begin of the hour that `entries` counts. */
    hour: instant(),
    /** The response times of that hour (src/health/latency-entries.ts). */
    entries: bytes(),
  },
  (table) => [primaryKey({ columns: [table.observer, table.node, table.probe] })],
);

/** Response times: a row a week, with its hours, and a row a month, with its days. */
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

/** Maintenance announced by command; what the configuration announces is not here. */
export const healthMaintenance = recorder.table(
  'health_maintenance',
  {
    id: serial().primaryKey(),
    /** Null: every node. */
    node: text(),
    starts_at: instant().notNull(),
    ends_at: instant().notNull(),
    reason: text(),
    announced_at: instant().notNull(),
  },
  (table) => [index('health_maintenance_by_end').on(table.ends_at)],
);

/** What people wrote about a node's troubles: beside the ledger, which nobody writes into. Notes are only added. */
export const incidentNotes = recorder.table(
  'incident_notes',
  {
    id: serial().primaryKey(),
    node: text().notNull(),
    /** What moment it is about. */
    at: instant().notNull(),
    author: text().notNull(),
    note: text().notNull(),
    written_at: instant().notNull(),
  },
  (table) => [index('incident_notes_by_node').on(table.node, table.at)],
);
