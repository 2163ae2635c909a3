import { bigint, customType, date, integer, jsonb, primaryKey, serial, text } from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const count = () => bigint({ mode: 'number' }).notNull();

/** Seals over all datasets, one row each. The newest seal may be unfinished. */
export const seals = recorder.table('seals', {
  seal: integer().primaryKey(),
  /** Rows recorded before this instant are sealed. */
  until: instant().notNull(),
  began_at: instant().notNull(),
  /** The writers whose rows could still arrive late when the seal started (src/reporting/seals/leaves.ts). */
  open: jsonb().notNull(),
  /** Time at which the seal was finished; null before. */
  made_at: instant(),
  /** The text that is signed. */
  statement: text(),
  /** SHA-256 of the statement, in hexadecimal. */
  head: text(),
  /** The Ed25519 signature of the statement; null if no key was configured. */
  signature: bytes(),
  /** The public key of the signature: SPKI in base64. */
  public_key: text(),
  /** Error of the last attempt; null if the last attempt did not fail. */
  error: text(),
});

/**
 * The part of a seal about one dataset. There is no row if nothing was recorded in the dataset since the
 * previous seal.
 */
export const sealDatasets = recorder.table(
  'seal_datasets',
  {
    dataset: text().notNull(),
    seal: integer().notNull(),
    /** The form in which rows were hashed. */
    form: text().notNull(),
    /** Number of leaves for recorded rows. */
    rows: count(),
    /** Number of leaves for ends of rows. */
    ends: count(),
    /** Number of leaves of both kinds whose day was sealed before. */
    late: count(),
    /** The changes that were declared for this dataset since the previous seal. */
    changes: text().array().notNull(),
    /** The root of the hash tree: SHA-256 in hexadecimal. */
    root: text().notNull(),
    /** The head of the previous seal of the dataset; null for its first seal. */
    before: text(),
    /** The head of the dataset after this seal: SHA-256 in hexadecimal. */
    head: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.seal] })],
);

/** The leaves of the tree. A row has up to 256 leaves of one seal, dataset, kind (`row` or `end`) and day. */
export const sealParts = recorder.table(
  'seal_parts',
  {
    dataset: text().notNull(),
    day: date({ mode: 'string' }).notNull(),
    kind: text().notNull(),
    seal: integer().notNull(),
    part: integer().notNull(),
    /** Instants at which the rows of the leaves were recorded or ended, in order. */
    instants: instant().array().notNull(),
    /**
     * Nine bytes for each leaf, in the order of `instants`: six of the hash of the leaf's key, then three of
     * the hash of the leaf.
     */
    tags: bytes().notNull(),
    /** SHA-256 of the hashes of all leaves, in the order of `instants`. */
    node: bytes().notNull(),
  },
  (table) => [primaryKey({ columns: [table.dataset, table.day, table.kind, table.seal, table.part] })],
);

/** Forms of hashing: the hashed columns and their order. The name of a form is the hash of its definition. */
export const sealForms = recorder.table('seal_forms', {
  form: text().primaryKey(),
  definition: jsonb().notNull(),
});

/** Declared changes of sealed rows, one row each. */
export const sealChanges = recorder.table('seal_changes', {
  id: serial().primaryKey(),
  dataset: text().notNull(),
  /**
   * `resealed`: values were rewritten, so all rows are sealed again. `removed`: rows before `before_at` were
   * deleted.
   */
  kind: text().notNull(),
  reason: text().notNull(),
  before_at: instant(),
  declared_at: instant().notNull(),
  /** The first seal after the change; null if there is no such seal yet. */
  seal: integer(),
});
