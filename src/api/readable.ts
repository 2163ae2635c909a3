import type { DeclaredColumn, DeclaredParameter } from '../db/declared.ts';

/** A column that takes part in the order of rows. */
export interface OrderColumn {
  readonly name: string;
  /** It may be null. */
  readonly nullable: boolean;
  /** Nulls count as empty texts, as in the index of a dataset's key. */
  readonly emptyForNull?: true;
}

/** Rows of `reporting` that can be read: a view, or a function that returns rows. */
export interface Readable {
  /** Its name in `reporting`. */
  readonly name: string;
  /** What a row is. */
  readonly about: string;
  readonly columns: readonly DeclaredColumn[];
  /** What tells rows apart and orders them, in the order of the index where there is one. */
  readonly key: readonly OrderColumn[];
  /** What a function takes; null: a view. */
  readonly parameters: readonly DeclaredParameter[] | null;
  /** The function `reporting.X(timestamptz)` with the rows of a past moment; null: {@link noPast} says why there is none. */
  readonly asOf: string | null;
  /** Why it cannot be read as of a moment, and what to do instead. */
  readonly noPast: string;
}

/** Types whose values have an order. */
const ORDERED: ReadonlySet<string> = new Set([
  'text',
  'numeric',
  'bigint',
  'integer',
  'double precision',
  'boolean',
  'timestamptz',
  'date',
  'interval',
]);

/** The columns by which rows can be sorted and compared. */
export const orderedColumns = ({ columns }: Pick<Readable, 'columns'>) =>
  columns.filter(({ type }) => ORDERED.has(type));

/** The order of columns without an index. */
export const orderOf = (columns: readonly DeclaredColumn[]): OrderColumn[] =>
  columns.map(({ name, notNull }) => ({ name, nullable: !notNull }));
