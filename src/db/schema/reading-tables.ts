import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
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

/** The table of a dataset: four bytes for its name, which stays right when it is renamed or restored. */
const regclass = customType<{ data: string }>({ dataType: () => 'regclass' });
const varbit = customType<{ data: string }>({ dataType: () => 'bit varying' });

/** What the readings of a dataset were asked about: the values of the request, once. */
export const readingScopes = recorder.table(
  'reading_scopes',
  {
    scope_id: integer().primaryKey().generatedAlwaysAsIdentity(),
    dataset: regclass().notNull(),
    request: text().array().notNull(),
    /** The next number of a member; it only grows, so that two who number at once never give the same one. */
    next_member: integer().notNull().default(0),
  },
  (table) => [
    uniqueIndex('reading_scopes_request').on(table.dataset, table.request),
    // The first values find nearly all: no request of readings has more than two.
    index('reading_scopes_first').on(table.dataset, sql`(request[1])`, sql`(request[2])`),
  ],
);

/**
 * What the readings of a scope are of: the texts of a reading, once among those that are not retired. A scope's members are
 * numbered `chunk * 8 + seat - 1`.
 */
export const readingMembers = recorder.table(
  'reading_members',
  {
    scope_id: integer().notNull(),
    chunk: integer().notNull(),
    /** From 1 to 8. */
    seat: smallint().notNull(),
    words: text().array().notNull(),
    /** When no kept reading was found of it any more: no look takes this number again (src/recording/unread-members.ts). */
    retired_at: instant(),
  },
  (table) => [
    primaryKey({ columns: [table.scope_id, table.chunk, table.seat] }),
    unique('reading_members_words').on(table.scope_id, table.words, table.retired_at).nullsNotDistinct(),
    index('reading_members_first').on(sql`(words[1])`),
  ],
);

/**
 * The looks of days that are not closed yet, each with all that was read: one strip of values a column, by the members'
 * numbers (src/recording/readings/strip.ts).
 */
export const readingOpen = recorder.table(
  'reading_open',
  {
    dataset: regclass().notNull(),
    scope_id: integer().notNull(),
    observed_at: instant().notNull(),
    run_id: bigint({ mode: 'bigint' }).notNull(),
    /** Whether a strip has a place for each member that was read, in the order of their numbers. Once it had one for each number. */
    dense: boolean().notNull().default(false),
    base: bigint({ mode: 'bigint' }).array().notNull(),
    mode: smallint().array().notNull(),
    start: integer().array().notNull(),
    /** A bit a member: whether it was read. */
    present: varbit().notNull(),
    bits: varbit().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope_id, table.observed_at] }),
    index('reading_open_observed').on(table.dataset, table.observed_at),
  ],
);

/**
 * The looks of closed days. They are many and small, so that an index weighs half of what they do: there is one, and who asks for a
 * day of a scope asks for its time.
 */
export const readingLooks = recorder.table(
  'reading_looks',
  {
    scope_id: integer().notNull(),
    observed_at: instant().notNull(),
    run_id: bigint({ mode: 'bigint' }).notNull(),
    day: date().notNull(),
    /** Its place in the day, from 0. */
    place: integer().notNull(),
  },
  (table) => [index('reading_looks_observed').on(table.scope_id, table.observed_at)],
);

/** What was read of up to eight members on a closed day: a strip of values a member and column, by the looks' places. */
export const readingDays = recorder.table(
  'reading_days',
  {
    scope_id: integer().notNull(),
    chunk: integer().notNull(),
    day: date().notNull(),
    /** How many looks the day had. */
    looks: integer().notNull(),
    base: bigint({ mode: 'bigint' }).array().notNull(),
    /** Null: no strip has a slope. */
    slope: integer().array(),
    mode: smallint().array().notNull(),
    start: integer().array().notNull(),
    /** A bit a member and look: whether it was read; null: who was read at all was read at every look. */
    present: varbit(),
    bits: varbit().notNull(),
    /** Of columns of numbers: the sum of a member's values as whole numbers, and how many these are. */
    sums: numeric().array().notNull(),
    told: integer().array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope_id, table.chunk, table.day] }),
    index('reading_days_day').on(table.scope_id, table.day),
  ],
);

/** How many readings of a closed day stayed rows of the dataset's table, because they cannot be packed exactly. */
export const readingKept = recorder.table(
  'reading_kept',
  { scope_id: integer().notNull(), day: date().notNull(), rows: bigint({ mode: 'number' }).notNull() },
  (table) => [primaryKey({ columns: [table.scope_id, table.day] })],
);
