import {
  bigserial,
  index,
  integer,
  numeric,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { recorder } from './bookkeeping.ts';

const instant = () => timestamp({ withTimezone: true });

/** What two sources say differently of the same thing, one row a thing and check, until they agree. */
export const discrepancies = recorder.table(
  'discrepancies',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    check_name: text().notNull(),
    dataset: text().notNull(),
    /** What it is about, as key=value. */
    subject: text().notNull(),
    /** The bucket or block it is about, or since when both sides stand. */
    at: instant().notNull(),
    left_source: text().notNull(),
    left_value: text().notNull(),
    right_source: text().notNull(),
    right_value: text().notNull(),
    /** What the two were allowed to differ by, in words. */
    tolerance: text().notNull(),
    found_at: instant().notNull(),
    /** When they were found to agree again; null: they were not. */
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
    /** How many times the usual move from week to week the change is. */
    strength: numeric().notNull(),
    found_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.metric, table.broke_at] })],
);

/** How the comparing itself goes: one row a group of checks. */
export const checkRuns = recorder.table('check_runs', {
  /** `nodes`, or the chain whose metrics are compared. */
  scope: text().primaryKey(),
  /** Up to when everything was compared; null: it never was. */
  checked_at: instant(),
  took_ms: integer(),
  /** Since when it fails, and why; null: it does not. */
  failed_since: instant(),
  error: text(),
});
