import type { DeclaredColumn, DeclaredParameter } from '../../db/declared.ts';

/** A column that takes part in the order of rows. */
export interface OrderColumn {
  readonly name: string;
  /** It may be null. */
  readonly nullable: boolean;
  /** Nulls count as empty texts, as in the index of a dataset's key. */
  readonly emptyForNull?: true;
  /** It may be so long that no address holds it: only its begin counts. */
  readonly byBegin?: true;
}

/** A part of the rows of a past moment. */
export interface PastPart {
  /** The view, in `reporting`. */
  readonly view: string;
  /** SQL of columns that it does not have, by name. */
  readonly columns?: Readonly<Record<string, string>>;
  /** SQL: which of its rows `r` were known at a moment. @param at SQL of the moment */
  readonly where: (at: string) => string;
}

/** The things that the rows of a view are about, where it is costly to work out the rows of all. */
export interface Things {
  /** The view that lists them, in `reporting`. */
  readonly view: string;
  /** What tells them apart: the first columns of the key, and columns of {@link view}. */
  readonly columns: readonly string[];
  /** They are blocks of so many whole numbers each, of this column of the rows, and share its order. Absent: they begin the key. */
  readonly blocks?: { readonly of: string; readonly size: number };
  /** More columns that they are listed with: by these the list is filtered, too. */
  readonly also?: readonly string[];
  /** Only where no other columns are filtered: by them rows are sooner found in all things together. */
  readonly alone?: true;
  /** Rows are packed by the day: PostgreSQL does not know how many there are, and finds few only where they are bounded on both sides. */
  readonly packed?: true;
}

/** Rows that stand by the number of a series (`numbered` of a dataset). */
export interface Numbered {
  /** The view that lists the series, in `reporting`. */
  readonly view: string;
  /** The column with the number, there and of the rows: in the index of the rows it stands for {@link columns}. */
  readonly number: string;
  /** What tells series apart: the first columns of the key, and columns of {@link view}. */
  readonly columns: readonly string[];
}

/** The rows whose lists a view shows, an element a row. */
export interface Holders {
  /** Their view, in `reporting`. */
  readonly view: string;
  /** Their key: the first columns of the elements' key. */
  readonly key: readonly OrderColumn[];
  /** The column with the list. */
  readonly list: string;
  /** Where those of a past moment are, when they are in several views, the first of which is {@link view}; absent: they are in one. */
  readonly pastParts?: readonly PastPart[];
}

/** When rows came: they stand about in that order, so that an index finds those of a short time. */
export interface Arrival {
  /** The column that says so. */
  readonly column: string;
  /** What they are rows of. */
  readonly dataset: string;
  /** The view in `reporting` of all that was recorded, and its column of when it came. */
  readonly view: string;
  readonly begins: string;
  /**
   * Its index holds when other datasets were read, too. A first page does not look for where rows end: of what is not read any more, all
   * that the others read since would be gone through. Its windows may go on to now instead.
   */
  readonly shared?: true;
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
  /** What its rows are worked out for, one by one; absent: rows are found as they are. */
  readonly things?: Things;
  /** Absent: rows stand by their own columns. */
  readonly numbered?: Numbered;
  /** The view in `reporting` of what each node tells of the same keys, with an index by node and key; absent: there is none. */
  readonly toldBy?: string;
  /** What its rows are elements of; absent: they are none. */
  readonly holders?: Holders;
  /** Absent: nothing finds rows by when they came. */
  readonly arrival?: Arrival;
  /** What a function takes; null: a view. */
  readonly parameters: readonly DeclaredParameter[] | null;
  /** The function `reporting.X(timestamptz)` with the rows of a past moment; null: {@link noPast} says why there is none. */
  readonly asOf: string | null;
  /** The same of the rows of {@link asOf}. */
  readonly pastParts?: readonly PastPart[];
  /** The views in `reporting` that have its rows between them: in each of them alone they are found by the key. Absent: in it as well. */
  readonly parts?: readonly string[];
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
