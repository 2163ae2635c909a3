import {
  bigint,
  customType,
  date,
  integer,
  jsonb,
  primaryKey,
  serial,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';
import { recorder } from './bookkeeping.ts';

const instant = () => timestamp({ withTimezone: true });
const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const count = () => bigint({ mode: 'number' }).notNull();

/** One row a seal, over all datasets. The newest may be under way. */
export const seals = recorder.table('seals', {
  seal: integer().primaryKey(),
  /** What was recorded before this instant is sealed. */
  until: instant().notNull(),
  began_at: instant().notNull(),
  /** What could still come late when it began (src/seals/progress.ts). */
  open: jsonb().notNull(),
  /** Null: it is under way. */
  made_at: instant(),
  /** What is signed, as text; its sha-256 in hex is the head. */
  statement: text(),
  head: text(),
  /** Ed25519, of the statement; null: no key was given. */
  signature: bytes(),
  /** The key that the signature is of: SPKI in base64. */
  public_key: text(),
  /** Why the last attempt failed; null: it did not. */
  error: text(),
});

/** What a seal holds of one dataset; no row: nothing was recorded in it since the seal before. */
export const sealDatasets = recorder.table(
  'seal_datasets',
  {
    dataset: text().notNull(),
    seal: integer().notNull(),
    /** The form in which rows were read. */
    form: text().notNull(),
    /** Rows recorded, ends set, and how many of both came after the seal of their day. */
    rows: count(),
    ends: count(),
    late: count(),
    /** Which changes it was made after: those declared for this dataset since the seal before. */
    changes: text().array().notNull(),
    /** The top of the tree of hashes, the dataset's head before, and its head: sha-256 in hex. */
    root: text().notNull(),
    before: text(),
    head: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.seal] })],
);

/** The leaves of the tree, some hundred in a row: of a seal, a dataset, a kind (`row` or `end`) and a day. */
export const sealParts = recorder.table(
  'seal_parts',
  {
    dataset: text().notNull(),
    day: date({ mode: 'string' }).notNull(),
    kind: text().notNull(),
    seal: integer().notNull(),
    part: integer().notNull(),
    /** When each was recorded, or ended, in order. */
    instants: instant().array().notNull(),
    /** In the same order, nine bytes each: six of the hash of its key, three of its own. */
    tags: bytes().notNull(),
    /** The sha-256 of all their hashes in that order. */
    node: bytes().notNull(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.day, table.kind, table.seal, table.part] })],
);

/** How rows were read: which columns, in which order. Named by its hash. */
export const sealForms = recorder.table('seal_forms', {
  form: text().primaryKey(),
  definition: jsonb().notNull(),
});

/** What was done to sealed rows on purpose, said by whoever did it. */
export const sealChanges = recorder.table('seal_changes', {
  id: serial().primaryKey(),
  dataset: text().notNull(),
  /** `resealed`: values were written anew, all rows are sealed again; `removed`: rows before `before_at` were taken out. */
  kind: text().notNull(),
  reason: text().notNull(),
  before_at: instant(),
  declared_at: instant().notNull(),
  /** The first seal after it; null: none yet. */
  seal: integer(),
});
