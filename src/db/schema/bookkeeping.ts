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

/** The schema of the tables for users' data and for the state of the recording. */
export const recorder = pgSchema('recorder');

/** Declares a column of instants. */
export const instant = () => timestamp({ withTimezone: true });
/** Column type of several ranges on a source's axis (ms since 1970, or heights). */
const int8multirange = customType<{ data: string }>({ dataType: () => 'int8multirange' });

/** Column type of one range on a source's axis (ms since 1970, or heights). */
const int8range = customType<{ data: string }>({ dataType: () => 'int8range' });

/**
 * Targets: one row per source and target. The row holds the lease: the run that may commit for this target, and
 * the instant (by the database's clock) before which no other run may take the target over.
 */
export const targets = recorder.table(
  'targets',
  {
    source: text().notNull(),
    target_key: text().notNull(),
    target: jsonb().$type<Record<string, string>>().notNull(),
    /**
     * Recorder that records the target, or last recorded the target; null if the target was only recorded by
     * hand.
     */
    recorder: text(),
    run_id: bigint({ mode: 'number' }),
    lease_until: instant(),
    /** Number of requests of the last complete poll; null if there was no complete poll. */
    poll_requests: integer(),
    /**
     * Maximum number of requests of a complete run. For a list that is one window, this is about the number
     * for the whole list.
     */
    max_requests: integer(),
    /** Start of the window of the last complete poll, on the source's axis; null if there was no complete poll. */
    poll_from: bigint({ mode: 'number' }),
    /** End of the window of the last complete poll; null if there was no complete poll. */
    poll_to: bigint({ mode: 'number' }),
    /** Start of the range that the last complete poll returned, at or below `poll_from`; null if unknown. */
    shown_from: bigint({ mode: 'number' }),
    /** Service and index from which the target is read; null if the target is not read from an index. */
    index_name: text(),
    /** Time up to which the index has progressed, according to the target's items; null if unknown. */
    newest_item_at: instant(),
    /** Mean time between consecutive items of the newest page, in ms; null if there are too few items. */
    usual_interval_ms: bigint({ mode: 'number' }),
    /** Longest time between consecutive items of the newest page, in ms; null if there are too few items. */
    longest_interval_ms: bigint({ mode: 'number' }),
    /**
     * Windows of an index whose last repeated request failed, on the axis of the source; null if there is no
     * such window.
     */
    failed_sweeps: int8multirange(),
  },
  (table) => [primaryKey({ columns: [table.source, table.target_key] })],
);

/**
 * Requested recording of a target, and the state of that recording: one row per dataset. Datasets of one source
 * share its requests, but each has its own interval, coverage and completeness.
 */
export const targetDatasets = recorder.table(
  'target_datasets',
  {
    source: text().notNull(),
    target_key: text().notNull(),
    dataset: text().notNull(),
    every_ms: bigint({ mode: 'number' }).notNull(),
    /** True if the response never changes, so that no request is repeated after the response was recorded. */
    once: boolean().notNull().default(false),
    /**
     * True if the configuration contains the dataset of the target now; false if it was removed, or was
     * recorded by hand.
     */
    active: boolean().notNull(),
    /**
     * Time at which the dataset of the target was removed from the configuration; null if the dataset was not
     * removed, or was never in the configuration.
     */
    left_at: instant(),
    /**
     * Time at which the members of a removed target were ended; null if the target was not removed, or its
     * members are not ended yet.
     */
    ended_at: instant(),
    /**
     * Time since which the configuration contains the dataset of the target; set again when the dataset
     * returns after a pause.
     */
    requested_since: instant().notNull(),
    /** Expected start of the recording, on the source's axis; null for observations. */
    expected_from: bigint({ mode: 'number' }),
    /** Observation time of the first successful run: the start of the record. */
    first_success_at: instant(),
    last_success_at: instant(),
    /** Time at which the last successful run was planned; null if the run was not planned. */
    last_planned_at: instant(),
    /** Time of the last successful run after which nothing was missing. */
    last_complete_at: instant(),
    /** Start of the time in which every success was incomplete; null if the last success was complete. */
    incomplete_since: instant(),
    incomplete_reason: text(),
    /**
     * Number of members that were missing in the last complete observation. Such members are current until a
     * later observation confirms their absence.
     */
    unconfirmed_departures: integer().notNull().default(0),
    last_failure_at: instant(),
    failures: integer().notNull().default(0),
    /** Error of the last failure. */
    last_error: text(),
    /** Total number of items received. Counted here, because old runs are removed. */
    items: bigint({ mode: 'number' }).notNull().default(0),
    /** Total number of rows written. Counted here, because old runs are removed. */
    rows_written: bigint({ mode: 'number' }).notNull().default(0),
    /** The day (UTC) that `rows_today` counts. */
    rows_day: date({ mode: 'string' }),
    /** Number of rows written on `rows_day`. */
    rows_today: bigint({ mode: 'number' }).notNull().default(0),
    /**
     * Reason why the upstream does not offer this target, such as a missing method; such a target is requested
     * rarely.
     */
    unsupported_reason: text(),
  },
  (table) => [
    primaryKey({ columns: [table.source, table.target_key, table.dataset] }),
    index('target_datasets_by_dataset').on(table.dataset, table.target_key),
  ],
);

/** Runs: one row per walk over a window, or per observation. Counts are arrays in the order of `datasets`. */
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
    /** Axis of the window's bounds: `time` in ms since 1970, or `height`; null for observations. */
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
    index('runs_started').on(table.started_at),
    index('runs_that_wrote_nothing').on(table.finished_at).where(sql`0 = all (rows_written)`),
    index('runs_that_wrote').on(table.finished_at).where(sql`not (0 = all (rows_written))`),
  ],
);

const count = () => bigint({ mode: 'number' }).notNull();

/** Counts of runs that were removed. */
export const runDays = recorder.table(
  'run_days',
  {
    /** `day`, or `month` for older counts. */
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
    rows_written: count(),
    requests: count(),
    budget_units: count(),
    quarantined: count(),
  },
  (table) => [
    primaryKey({ columns: [table.span, table.starts_on, table.dataset, table.target_key, table.reason] }),
  ],
);

/** The expected schedules, and their state in the queue when the reconciler last read it. */
export const schedules = recorder.table('schedules', {
  /** Name of the schedule, with the name of the recorder if the recorder has one. */
  schedule: text().primaryKey(),
  recorder: text().notNull().default('recorder'),
  every_ms: bigint({ mode: 'number' }).notNull(),
  /** Next time of the schedule; null if the queue did not have the schedule. */
  next_at: instant(),
  missing_since: instant(),
  seen_at: instant().notNull(),
});

/** Coverage: the ranges of a target's axis that are stored completely. */
export const coverage = recorder.table(
  'coverage',
  {
    dataset: text().notNull(),
    target_key: text().notNull(),
    axis: text().notNull(),
    covered: int8multirange().notNull(),
    /**
     * Ranges for which an index returned at least one complete response, whether they are covered or not;
     * null if equal to `covered`.
     */
    answered: int8multirange(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.target_key] })],
);

/** Ranges that are permanently missing, and the reason. */
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

/** Items that could not be decoded or stored, each once, kept until a corrected version decodes them. */
export const quarantine = recorder.table(
  'quarantine',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    dataset: text().notNull(),
    target_key: text().notNull(),
    /** SHA-256 of the item and the reason, in hex. */
    digest: text().notNull(),
    /** The last run that received the item. */
    run_id: bigint({ mode: 'number' }).notNull(),
    /** Time at which the item was first received. */
    quarantined_at: instant().notNull(),
    last_seen: instant().notNull(),
    times: bigint({ mode: 'number' }).notNull().default(1),
    /** Time at which the stored form of the item was observed. */
    observed_at: instant().notNull(),
    reason: text().notNull(),
    /** JSON of the item, as text because jsonb refuses some items. */
    item: text().notNull(),
  },
  (table) => [
    index('quarantine_by_dataset').on(table.dataset, table.id),
    uniqueIndex('quarantine_once').on(table.dataset, table.target_key, table.digest),
  ],
);

/** The budget of each upstream and API key, shared by all workers. */
export const budgets = recorder.table(
  'budgets',
  {
    upstream: text().notNull(),
    /**
     * Digest of the server and the key header. Another URL has a separate row, and therefore a separate block
     * and separate counts.
     */
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

/**
 * Constraints, indexes and defaults of the recorder's tables after the last migration. A migration restores
 * objects that were dropped by hand.
 */
export const ownObjects = recorder.table('own_objects', {
  /** Name of the object, such as `index recorder.gaps_by_run`. */
  name: text().primaryKey(),
  /** The statement that creates the object. */
  statement: text().notNull(),
});

/**
 * Objects that migrations created in `reporting`, by name. The name of a function includes the types of its
 * parameters. The definition consists of digests of the declaration, of the created object, and of its
 * comments.
 */
export const reportingObjects = recorder.table('reporting_objects', {
  name: text().primaryKey(),
  definition: text().notNull(),
});

/**
 * Start of the complete record of each dataset: one row for each dataset that ever had a retention. The start
 * only moves forward.
 */
export const retention = recorder.table('retention', {
  /** A dataset, `runs` or `quarantine`. */
  dataset: text().primaryKey(),
  /**
   * Start of the kept range. Data that is only needed for earlier times may be removed. This start is stored
   * before anything is removed.
   */
  kept_since: instant().notNull(),
  moved_at: instant().notNull(),
  /** End of the removal; null while the removal runs, or if no process runs it. */
  finished_at: instant(),
  /** Total number of removed rows and readings. */
  removed: bigint({ mode: 'number' }).notNull().default(0),
  removed_at: instant(),
});
