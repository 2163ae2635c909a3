import { bigint, customType, index, jsonb, primaryKey, serial, text, timestamp } from 'drizzle-orm/pg-core';
import { recorder } from './bookkeeping.ts';

const instant = () => timestamp({ withTimezone: true });
const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Who watches, one row an observer: which process does so now, and how far the ledger reaches. */
export const healthObservers = recorder.table('health_observers', {
  observer: text().primaryKey(),
  /** The process that probes; null: nobody. */
  holder: text(),
  /** By the database's clock: another process may take over afterwards. */
  lease_until: instant(),
  /** Up to here everything that open intervals say is settled. */
  heartbeat_at: instant(),
  /** Probes whose rows the database refuses, with since when and why; null: none. */
  refused: jsonb(),
});

/** When an observer did not look at all. It is stored once, whatever the number of nodes; intervals run on beneath it. */
export const healthAbsences = recorder.table(
  'health_absences',
  {
    observer: text().notNull(),
    started_at: instant().notNull(),
    ended_at: instant().notNull(),
    reason: text().notNull(),
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
    /** Looks in its whole life. */
    probes: bigint({ mode: 'number' }).notNull(),
    probed_at: instant().notNull(),
    /** The first failure that a second look has yet to confirm. */
    suspect: jsonb(),
    /** By check, how what is said was worded at the last; null: as at first. */
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
