import { sql } from 'drizzle-orm';
import {
  bigint,
  customType,
  date,
  index,
  integer,
  numeric,
  primaryKey,
  smallint,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

/** Column type of a dataset's table: an OID of four bytes, which stays valid after a rename or a restore. */
const regclass = customType<{ data: string }>({ dataType: () => 'regclass' });
const varbit = customType<{ data: string }>({ dataType: () => 'bit varying' });

/** Scopes of readings: the values of the request, stored once per dataset and request. */
export const readingScopes = recorder.table(
  'reading_scopes',
  {
    scope_id: integer().primaryKey().generatedAlwaysAsIdentity(),
    dataset: regclass().notNull(),
    request: text().array().notNull(),
    /**
     * The next number of a member. The number only grows, so that concurrent runs never assign the same
     * number.
     */
    next_member: integer().notNull().default(0),
  },
  (table) => [
    uniqueIndex('reading_scopes_request').on(table.dataset, table.request),
    // The first two values identify nearly all rows, because requests of readings have at most two values.
    index('reading_scopes_first').on(table.dataset, sql`(request[1])`, sql`(request[2])`),
  ],
);

/**
 * Members of a scope: the texts of a reading, unique among the members that are not retired. A scope's
 * members are numbered `chunk * 8 + seat - 1`.
 */
export const readingMembers = recorder.table(
  'reading_members',
  {
    scope_id: integer().notNull(),
    chunk: integer().notNull(),
    /** Position of the member within its chunk, from 1 to 8. */
    seat: smallint().notNull(),
    texts: text().array().notNull(),
    /**
     * Time at which no stored reading of the member was found. Later observations never use the number of the
     * member again (src/recording/unread-members.ts).
     */
    retired_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.scope_id, table.chunk, table.seat] }),
    unique('reading_members_texts').on(table.scope_id, table.texts, table.retired_at).nullsNotDistinct(),
    index('reading_members_first').on(sql`(texts[1])`),
  ],
);

/**
 * Observations of days that are not closed yet, with all their values: one strip of values per column. A
 * strip has one value for each member that was read, in the order of the members' numbers
 * (src/recording/readings/strip.ts).
 */
export const readingOpen = recorder.table(
  'reading_open',
  {
    dataset: regclass().notNull(),
    scope_id: integer().notNull(),
    observed_at: instant().notNull(),
    run_id: bigint({ mode: 'bigint' }).notNull(),
    base: bigint({ mode: 'bigint' }).array().notNull(),
    mode: smallint().array().notNull(),
    start: integer().array().notNull(),
    /** One bit per member: set if the member was read. */
    present: varbit().notNull(),
    bits: varbit().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope_id, table.observed_at] }),
    index('reading_open_observed').on(table.dataset, table.observed_at),
  ],
);

/**
 * Observations of closed days. The table has only one index, because its rows are small and many. Queries for
 * one day of a scope filter by `observed_at`.
 */
export const readingObservations = recorder.table(
  'reading_observations',
  {
    scope_id: integer().notNull(),
    observed_at: instant().notNull(),
    run_id: bigint({ mode: 'bigint' }).notNull(),
    day: date().notNull(),
    /** Ordinal of the observation in the day, from 0. */
    ordinal: integer().notNull(),
  },
  (table) => [index('reading_observations_observed').on(table.scope_id, table.observed_at)],
);

/**
 * Readings of up to eight members on a closed day: one strip of values per member and column, by the
 * positions of the observations.
 */
export const readingDays = recorder.table(
  'reading_days',
  {
    scope_id: integer().notNull(),
    chunk: integer().notNull(),
    day: date().notNull(),
    observation_count: integer().notNull(),
    base: bigint({ mode: 'bigint' }).array().notNull(),
    /** Slope of each strip (`src/recording/readings/strip.ts`). Null if all slopes are 0. */
    slope: integer().array(),
    mode: smallint().array().notNull(),
    start: integer().array().notNull(),
    /**
     * One bit per member and observation: set if the member was read. Null if every member that was read on
     * the day was read at every observation.
     */
    present: varbit(),
    bits: varbit().notNull(),
    /** For numeric columns: the sum of a member's values, as whole numbers. */
    sums: numeric().array().notNull(),
    /** For numeric columns: the number of a member's values. */
    value_counts: integer().array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope_id, table.chunk, table.day] }),
    index('reading_days_day').on(table.scope_id, table.day),
  ],
);

/**
 * Number of readings of a closed day that remained rows of the dataset's table, because they cannot be packed
 * exactly.
 */
export const readingKept = recorder.table(
  'reading_kept',
  { scope_id: integer().notNull(), day: date().notNull(), rows: bigint({ mode: 'number' }).notNull() },
  (table) => [primaryKey({ columns: [table.scope_id, table.day] })],
);
