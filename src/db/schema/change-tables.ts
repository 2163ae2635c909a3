import { sql } from 'drizzle-orm';
import { bigint, bigserial, customType, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

const varbit = customType<{ data: string }>({ dataType: () => 'bit varying' });

/**
 * The change feed: one row per commit and dataset, written with the commit. A row contains the keys of changed
 * rows and no values. The values are in the tables of the datasets, where nothing is overwritten
 * (`recording/histories/changes.ts`).
 */
export const changes = recorder.table(
  'changes',
  {
    /**
     * Number of the commit, in the order in which commits became visible. The number is assigned under a lock
     * that is held until the commit has ended.
     */
    commit_number: bigserial({ mode: 'number' }).primaryKey(),
    dataset: text().notNull(),
    /** The run that made the change; null if the prober wrote it. */
    run_id: bigint({ mode: 'number' }),
    recorded_at: instant().notNull(),
    /**
     * Time of the commit by the database's clock. Together with the number, this time distinguishes a
     * database from a restored copy.
     */
    made_at: instant().notNull().default(sql`clock_timestamp()`),
    changes: integer().notNull(),
    /** Reference of the instants in `keys`; for readings, the time of the readings. */
    observed_at: instant().notNull(),
    /** The values of the request's columns. */
    request: text().array().notNull(),
    /** One letter per change. */
    kinds: text(),
    /**
     * Text columns of the key: one line per column, one element per change. Texts are separate from `keys`
     * because hashes and ids do not compress: the attempt to compress them took a tenth of PostgreSQL's time
     * for a commit of new rows.
     */
    texts: text().array(),
    /**
     * One array, encoded as a text, for each other key column that comes from an item. Each array has one
     * element per change. The last array contains the start of validity of the version, in microseconds from
     * `observed_at`. Adjacent numbers compress well.
     */
    keys: text().array(),
    /** Scope of readings; null for other changes. */
    scope_id: integer(),
    /** One bit per member of the scope, by number; null for other changes. */
    present: varbit(),
    /** Changes of the uptime ledger, whose rows may be rewritten. */
    turns: jsonb(),
  },
  (table) => [index('changes_by_dataset').on(table.dataset, table.commit_number)],
);

/** Position and state of each sink. Only the worker whose number is `holder` sends changes. */
export const changeSinks = recorder.table(
  'change_sinks',
  {
    recorder: text().notNull(),
    sink: text().notNull(),
    /** Cursor of the last change that the sink accepted; null if there was no such change. */
    cursor: text(),
    /** The commit of the last change that the sink accepted. */
    commit_number: bigint({ mode: 'number' }),
    sent: bigint({ mode: 'number' }).notNull().default(0),
    since: instant().notNull().defaultNow(),
    sent_at: instant(),
    holder: bigint({ mode: 'number' }).notNull().default(0),
    lease_until: instant(),
    failing_since: instant(),
    failures: integer().notNull().default(0),
    error: text(),
    next_try_at: instant(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.sink] })],
);
