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

/** Discrepancies between two sources. One row for each check, subject and time; it ends when the two agree again. */
export const discrepancies = recorder.table(
  'discrepancies',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    check_name: text().notNull(),
    dataset: text().notNull(),
    /** What is compared, as key=value pairs. */
    subject: text().notNull(),
    /** The time of the bucket, block or reading that is compared, or since when both sides have kept their values. */
    at: instant().notNull(),
    left_source: text().notNull(),
    left_value: text().notNull(),
    right_source: text().notNull(),
    right_value: text().notNull(),
    /** How much the two may differ, in words. */
    tolerance: text().notNull(),
    found_at: instant().notNull(),
    /** When they were found to agree again; null: they still differ. */
    ended_at: instant(),
  },
  (table) => [
    uniqueIndex('discrepancies_once').on(table.check_name, table.subject, table.at),
    index('discrepancies_open').on(table.ended_at),
  ],
);

/** When the level of a metric changed for good. */
export const seriesBreaks = recorder.table(
  'series_breaks',
  {
    chain_id: text().notNull(),
    metric: text().notNull(),
    /** The first day of the new level. */
    broke_at: instant().notNull(),
    level_before: numeric().notNull(),
    level_after: numeric().notNull(),
    /** The change divided by the usual move from week to week. */
    strength: numeric().notNull(),
    found_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.metric, table.broke_at] })],
);

/** The last comparison of each scope. */
export const checkRuns = recorder.table('check_runs', {
  /** `nodes`, or the chain whose metrics are compared. */
  scope: text().primaryKey(),
  /** When everything was last compared without a failure; null: never. */
  checked_at: instant(),
  took_ms: integer(),
  /** Since when the comparison fails, and why; null: it does not fail. */
  failed_since: instant(),
  error: text(),
});

/** What `reporting.metric_settling_of(null)` said at the last comparison, where there are so many revisions that it takes seconds. */
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

/** Things of which rows contradict each other, or did: who reads it compares the rows (src/recording/histories/contradictions.ts). */
export const contradictions = recorder.table(
  'contradictions',
  {
    dataset: text().notNull(),
    /** The values of the columns that identify it. */
    thing: text().array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.thing] })],
);

/** Up to when rows were recorded whose contradictions are noted. */
export const contradictionsNoted = recorder.table('contradictions_noted', {
  dataset: text().primaryKey(),
  until: instant().notNull(),
});
