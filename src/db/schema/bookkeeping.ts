import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  boolean,
  customType,
  date,
  index,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core';

/** Tables of users' data and of the recorder's knowledge about it. */
export const recorder = pgSchema('recorder');

/** A column of moments. */
export const instant = () => timestamp({ withTimezone: true });
/** Ranges on a source's axis: milliseconds since 1970, or heights. */
const int8multirange = customType<{ data: string }>({ dataType: () => 'int8multirange' });
const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const int8range = customType<{ data: string }>({ dataType: () => 'int8range' });

/**
 * What is asked about: one row a source and target. Holds the lease: the run that may commit for this target, and until
 * when (by the database's clock) nobody else may take it over.
 */
export const targets = recorder.table(
  'targets',
  {
    source: text().notNull(),
    target_key: text().notNull(),
    target: jsonb().$type<Record<string, string>>().notNull(),
    /** The recorder that watches it now, or the last one that did; null: it was recorded by hand only. */
    recorder: text(),
    run_id: bigint({ mode: 'number' }),
    lease_until: instant(),
    /** The requests of the last complete poll, and its window on the source's axis; null: there was none. */
    look_requests: integer(),
    /** The most requests of a complete run: of a list that is one window, about those of the whole list. */
    most_requests: integer(),
    look_from: bigint({ mode: 'number' }),
    look_to: bigint({ mode: 'number' }),
    /** The start of what that poll showed, at or below its window; null if unknown. */
    shown_from: bigint({ mode: 'number' }),
    /** The service and the index that the target is read from; null if there is none. */
    index_name: text(),
    /** The moment up to which the items of the target show that the index has come; null: it showed none. */
    newest_item_at: instant(),
    /** The mean and the longest time between two items that follow each other in the newest page, ms; null: there are too few. */
    usual_interval_ms: bigint({ mode: 'number' }),
    longest_interval_ms: bigint({ mode: 'number' }),
  },
  (table) => [primaryKey({ columns: [table.source, table.target_key] })],
);

/**
 * What is wanted of a target, and its state: one row a dataset. Datasets of one source share its calls, but each has an
 * interval, coverage and completeness of its own.
 */
export const targetDatasets = recorder.table(
  'target_datasets',
  {
    source: text().notNull(),
    target_key: text().notNull(),
    dataset: text().notNull(),
    every_ms: bigint({ mode: 'number' }).notNull(),
    /** The answer never changes: once it is recorded, it is not asked for again. */
    once: boolean().notNull().default(false),
    /** The configuration asks for it now; false: it did earlier, or the target was recorded by hand. */
    active: boolean().notNull(),
    /** When it left the configuration; null: the configuration asks for it, or never did. */
    left_at: instant(),
    /** When the members of a target that left were ended; null: it did not leave, or they are not ended yet. */
    ended_at: instant(),
    /** Since when it is asked for; set again when it is asked for after a pause. */
    wanted_at: instant().notNull(),
    /** Where the recording is expected to begin, on the source's axis; null for observations. */
    expected_from: bigint({ mode: 'number' }),
    /** When the first run that succeeded observed: since then there is a record. */
    first_success_at: instant(),
    last_success_at: instant(),
    /** When the run of the last success was planned; null: nobody planned it, or an earlier version recorded it. */
    last_planned_at: instant(),
    /** The last success after which nothing was missing. */
    last_complete_at: instant(),
    /** Since when every success was incomplete; null: the last one was complete. */
    incomplete_since: instant(),
    incomplete_reason: text(),
    /** Members that the last complete observation missed, and that are current until a later one confirms their absence. */
    unconfirmed_departures: integer().notNull().default(0),
    last_failure_at: instant(),
    failures: integer().notNull().default(0),
    /** Why it failed the last time. */
    last_error: text(),
    /** Items seen and rows written in all, and rows written on `rows_day` (UTC). Counted here because old runs are removed. */
    items: bigint({ mode: 'number' }).notNull().default(0),
    rows_written: bigint({ mode: 'number' }).notNull().default(0),
    rows_day: date({ mode: 'string' }),
    rows_today: bigint({ mode: 'number' }).notNull().default(0),
    /** Why the upstream does not answer for this target, such as a method it does not offer; it is asked again rarely. */
    not_offered: text(),
  },
  (table) => [
    primaryKey({ columns: [table.source, table.target_key, table.dataset] }),
    index('target_datasets_by_dataset').on(table.dataset, table.target_key),
  ],
);

/** One row a run: one walk over one window, or one observation. Counts are arrays along `datasets`. */
export const runs = recorder.table(
  'runs',
  {
    run_id: bigserial({ mode: 'number' }).primaryKey(),
    source: text().notNull(),
    target_key: text().notNull(),
    datasets: text().array().notNull(),
    reason: text().notNull(),
    status: text().notNull(),
    worker: text().notNull(),
    /** Of the window's bounds: `time` in ms since 1970, or `height`; null for observations. */
    axis: text(),
    window_from: bigint({ mode: 'number' }),
    window_to: bigint({ mode: 'number' }),
    started_at: instant().notNull(),
    finished_at: instant(),
    pages: integer().notNull().default(0),
    items: bigint({ mode: 'number' }).array().notNull(),
    rows_written: bigint({ mode: 'number' }).array().notNull(),
    quarantined: bigint({ mode: 'number' }).notNull().default(0),
    requests: integer().notNull().default(0),
    budget_units: bigint({ mode: 'number' }).notNull().default(0),
    note: text(),
    error: text(),
  },
  (table) => [
    index('runs_running').on(table.status).where(sql`status = 'running'`),
    index('runs_that_wrote_nothing').on(table.finished_at).where(sql`0 = all (rows_written)`),
    index('runs_to_pack')
      .on(table.run_id)
      .where(
        sql`status = 'done' and error is null and note is null and quarantined = 0 and not (0 = all (rows_written))`,
      ),
  ],
);

/** Old runs that wrote rows and succeeded, a block of numbers together (`recording/packed-form.ts`). They left `runs`. */
export const packedRuns = recorder.table(
  'packed_runs',
  {
    run_block: bigint({ mode: 'number' }).notNull(),
    first_run: bigint({ mode: 'number' }).notNull(),
    last_run: bigint({ mode: 'number' }).notNull(),
    /** When the first of them began. */
    first_at: instant().notNull(),
    runs: integer().notNull(),
    /** Of each number of a run: in how many planes of bytes its differences stand, and which of `body` is the first. */
    widths: integer().array().notNull(),
    planes: integer().array().notNull(),
    /** What is equal in the runs of each kind, how many there are, and what is expected of their numbers. */
    kinds: jsonb().notNull(),
    body: bytea().notNull(),
  },
  (table) => [primaryKey({ columns: [table.run_block, table.first_run] })],
);

const count = () => bigint({ mode: 'number' }).notNull();

/** Counts of runs that wrote nothing and were removed. */
export const runDays = recorder.table(
  'run_days',
  {
    /** `day`, or `month` for what is older. */
    span: text().notNull(),
    starts_on: date({ mode: 'string' }).notNull(),
    dataset: text().notNull(),
    target_key: text().notNull(),
    reason: text().notNull(),
    runs: count(),
    failed: count(),
    lost: count(),
    pages: count(),
    items: count(),
    requests: count(),
    budget_units: count(),
    quarantined: count(),
  },
  (table) => [
    primaryKey({ columns: [table.span, table.starts_on, table.dataset, table.target_key, table.reason] }),
  ],
);

/** The expected schedules, and what the reconciler last saw of them in the queue. */
export const schedules = recorder.table('schedules', {
  /** With the name of the recorder where it has one. */
  schedule: text().primaryKey(),
  recorder: text().notNull().default('recorder'),
  every_ms: bigint({ mode: 'number' }).notNull(),
  /** When it ticks next; null: the queue did not have it. */
  next_at: instant(),
  missing_since: instant(),
  seen_at: instant().notNull(),
});

/** What is recorded: the ranges of a target's axis that are stored completely. */
export const coverage = recorder.table(
  'coverage',
  {
    dataset: text().notNull(),
    target_key: text().notNull(),
    axis: text().notNull(),
    covered: int8multirange().notNull(),
    /** What of an index was answered whole at least once, claimed or not; null: what is covered. */
    answered: int8multirange(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.target_key] })],
);

/** Permanent gaps, and why. */
export const gaps = recorder.table(
  'gaps',
  {
    dataset: text().notNull(),
    target_key: text().notNull(),
    axis: text().notNull(),
    range: int8range().notNull(),
    reason: text().notNull(),
    noticed_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.target_key, table.range] })],
);

/** Items that could not be decoded or stored, each once, kept until a fixed recorder reads them. */
export const quarantine = recorder.table(
  'quarantine',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    dataset: text().notNull(),
    target_key: text().notNull(),
    /** SHA-256 of the item and the reason, in hex. */
    digest: text().notNull(),
    /** The last run that received it. */
    run_id: bigint({ mode: 'number' }).notNull(),
    /** When it was first received. */
    quarantined_at: instant().notNull(),
    last_seen: instant().notNull(),
    times: bigint({ mode: 'number' }).notNull().default(1),
    /** When the kept form of the item was observed. */
    observed_at: instant().notNull(),
    reason: text().notNull(),
    /** The item's JSON as text: it may hold what jsonb refuses. */
    item: text().notNull(),
  },
  (table) => [
    index('quarantine_by_dataset').on(table.dataset, table.id),
    uniqueIndex('quarantine_once').on(table.dataset, table.target_key, table.digest),
  ],
);

/** The allowance of each upstream and key, drawn on by all workers. */
export const budgets = recorder.table(
  'budgets',
  {
    upstream: text().notNull(),
    /** A digest of the server and the key header: another URL does not take over a block or a count. */
    endpoint: text().notNull(),
    minute: instant().notNull(),
    minute_units: bigint({ mode: 'number' }).notNull(),
    day: date({ mode: 'string' }).notNull(),
    day_units: bigint({ mode: 'number' }).notNull(),
    blocked_until: instant(),
    /** The header that set `blocked_until`, such as `retry-after: 30`. */
    blocked_by: text(),
  },
  (table) => [primaryKey({ columns: [table.upstream, table.endpoint] })],
);

/** Constraints, indexes and defaults of the recorder's tables, as the last migration left them: what is dropped by hand is restored. */
export const ownObjects = recorder.table('own_objects', {
  /** Such as `index recorder.gaps_by_run`. */
  name: text().primaryKey(),
  /** The statement that creates it. */
  statement: text().notNull(),
});

/**
 * What a migration made in `reporting`, by name; of a function with the types of its parameters. The definition: digests of
 * the declaration, of what PostgreSQL made of it, and of its comments.
 */
export const reportingObjects = recorder.table('reporting_objects', {
  name: text().primaryKey(),
  definition: text().notNull(),
});
