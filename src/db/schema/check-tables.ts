import {
  bigint,
  bigserial,
  index,
  integer,
  interval,
  numeric,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/**
 * Discrepancies between two sources. One row per check, subject and time. A row ends when the two sources agree
 * again, or are no longer compared.
 */
export const discrepancies = recorder.table(
  'discrepancies',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    check_name: text().notNull(),
    dataset: text().notNull(),
    /** The compared subject, as key=value pairs. */
    subject: text().notNull(),
    /**
     * Time of the compared bucket, block or reading; otherwise the time since which neither value has
     * changed.
     */
    at: instant().notNull(),
    left_source: text().notNull(),
    left_value: text().notNull(),
    right_source: text().notNull(),
    right_value: text().notNull(),
    /** Allowed difference, as a text. */
    tolerance: text().notNull(),
    found_at: instant().notNull(),
    /** Time at which both sides were found to agree again, or were no longer compared; null while they differ. */
    ended_at: instant(),
  },
  (table) => [
    uniqueIndex('discrepancies_once').on(table.check_name, table.subject, table.at),
    index('discrepancies_open').on(table.ended_at),
  ],
);

/** Permanent changes of the level of a metric. */
export const seriesBreaks = recorder.table(
  'series_breaks',
  {
    chain_id: text().notNull(),
    metric: text().notNull(),
    /** The first day of the new level. */
    broke_at: instant().notNull(),
    level_before: numeric().notNull(),
    level_after: numeric().notNull(),
    /** The change divided by the usual change from week to week. */
    strength: numeric().notNull(),
    found_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.metric, table.broke_at] })],
);

/** The last comparison of each scope. */
export const checkRuns = recorder.table('check_runs', {
  /** `nodes`, or the chain whose metrics are compared. */
  scope: text().primaryKey(),
  /** Time of the last comparison without a failure; null if there was no such comparison. */
  checked_at: instant(),
  duration_ms: integer(),
  /** Start of the consecutive failures of the comparison; null if the last comparison succeeded. */
  failed_since: instant(),
  error: text(),
});

/**
 * Result of `reporting.metric_settling_of(null)` at the last comparison. The result is stored if the query
 * takes seconds because of many revisions.
 */
export const metricSettling = recorder.table(
  'metric_settling',
  {
    metric: text().notNull(),
    time_interval: text().notNull(),
    revisions: bigint({ mode: 'bigint' }).notNull(),
    points_revised: bigint({ mode: 'bigint' }).notNull(),
    half_moved_within: interval().notNull(),
    settled_within: interval().notNull(),
    latest_move: interval().notNull(),
    measured_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.metric, table.time_interval] })],
);

/**
 * Entities whose rows contradict each other, or did. Readers compare the rows
 * (src/recording/histories/contradictions.ts).
 */
export const contradictions = recorder.table(
  'contradictions',
  {
    dataset: text().notNull(),
    /** Values of the columns that identify the entity. */
    entity: text().array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.entity] })],
);

/** Time up to which the contradictions of recorded rows are stored. */
export const contradictionsNoted = recorder.table('contradictions_noted', {
  dataset: text().primaryKey(),
  until: instant().notNull(),
});
