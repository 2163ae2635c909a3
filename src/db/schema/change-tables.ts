import { sql } from 'drizzle-orm';
import { bigint, bigserial, customType, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

const varbit = customType<{ data: string }>({ dataType: () => 'bit varying' });

/**
 * What each commit changed: a row a dataset, written with the commit. It names what changed and holds no values: those stand in
 * the tables of the datasets, where nothing is overwritten (`history/changes.ts`).
 */
export const changes = recorder.table(
  'changes',
  {
    /** In the order in which commits became visible: drawn under a lock that is held until the commit has ended. */
    commit_number: bigserial({ mode: 'number' }).primaryKey(),
    dataset: text().notNull(),
    /** Null: the prober wrote it. */
    run_id: bigint({ mode: 'number' }),
    recorded_at: instant().notNull(),
    /** By the database's clock. With the number it tells two databases apart of which one was restored. */
    made_at: instant().notNull().default(sql`clock_timestamp()`),
    changes: integer().notNull(),
    /** From where the instants in `keys` are counted; of readings: when they were taken. */
    observed_at: instant().notNull(),
    /** The values of the request's columns. */
    request: text().array().notNull(),
    /** A letter a change. */
    kinds: text(),
    /**
     * The columns of the key that are texts, a line each, an element a change. They stand apart because hashes and ids do not compress: to
     * try it took a tenth of PostgreSQL's time for a commit of new rows.
     */
    texts: text().array(),
    /**
     * Arrays as texts, an element a change: one for each other column of the key that comes from an item, with null in the place of one that
     * stands in `texts`, and one with since when the version counts, in microseconds from `observed_at`. Numbers that stand side by side compress well.
     */
    keys: text().array(),
    /** Of readings: whose. A bit a member of the scope, by number. */
    scope_id: integer(),
    present: varbit(),
    /** Of the uptime ledger, which is written anew where it has to be: what was said. */
    turns: jsonb(),
  },
  (table) => [index('changes_by_dataset').on(table.dataset, table.commit_number)],
);

/** How far each sink is, and how it stands. One worker at a time sends: the one whose number is `holder`. */
export const changeSinks = recorder.table(
  'change_sinks',
  {
    recorder: text().notNull(),
    sink: text().notNull(),
    /** The last change that it took; null: none yet. */
    cursor: text(),
    /** The commit of that change. */
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
