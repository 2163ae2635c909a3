import type { DeclaredColumn, DeclaredParameter } from '../../db/declared.ts';

/** A column of the order of rows. */
export interface OrderColumn {
  readonly name: string;
  /** True if the column can be null. */
  readonly nullable: boolean;
  /** True if nulls sort as empty texts, as in the index of the key of a dataset. */
  readonly emptyForNull?: true;
  /** True if the text may be too long for a URL, so that only its first characters are compared. */
  readonly byPrefix?: true;
}

/** A part of the rows of a past moment. */
export interface PastPart {
  /** The view, in `reporting`. */
  readonly view: string;
  /** Returns SQL of the condition on rows `r` that were known at a moment. @param at SQL of the moment */
  readonly where: (at: string) => string;
}

/** The list of the entities of a view, if it is expensive to compute the rows of all entities. */
export interface EntityList {
  /** The view that lists the entities, in `reporting`. */
  readonly view: string;
  /** The identity of an entity: the first columns of the key, and columns of {@link view}. */
  readonly columns: readonly string[];
  /** Additional columns of the list that can be filtered. */
  readonly also?: readonly string[];
  /**
   * True if the list is used only without filters of other columns. With such filters, searching all entities
   * together is faster.
   */
  readonly alone?: true;
  /**
   * True if rows are packed by day. PostgreSQL cannot estimate the number of packed rows. The estimate is low
   * only for a range that is bounded on both sides.
   */
  readonly packed?: true;
}

/** Rows that refer to a series by its number (`numbered` of a dataset). */
export interface SeriesNumbering {
  /** The view that lists the series, in `reporting`. */
  readonly view: string;
  /**
   * The column with the number, in the list and in the rows. In the index of the rows, this column replaces
   * {@link columns}.
   */
  readonly number: string;
  /** The identity of a series: the first columns of the key, and columns of {@link view}. */
  readonly columns: readonly string[];
}

/** The rows with the lists whose elements a view contains, one element per row. */
export interface ListOwner {
  /**
   * The views that together contain all versions of the owners. The index of the key can be used only within
   * each view.
   */
  readonly views: readonly string[];
  /** The key of a version of the owners: the first columns of the elements' key. */
  readonly key: readonly OrderColumn[];
  /** The column with the list. */
  readonly list: string;
}

/**
 * The arrival time of rows. Rows are stored roughly in the order of this time, so an index finds the rows of
 * a short range.
 */
export interface Arrival {
  /** The column with the arrival time. */
  readonly column: string;
  /** The dataset of the rows. */
  readonly dataset: string;
  /** The view in `reporting` with all recorded versions. */
  readonly view: string;
  /** The column of {@link view} with the arrival time. */
  readonly begins: string;
  /**
   * True if the index of the arrival time contains the entries of several datasets. Then a first page is not
   * bounded by the newest row of its dataset, because a search for that row would scan all later entries of
   * other datasets.
   */
  readonly shared?: true;
}

/** A relation of `reporting`: a view, or a function that returns rows. */
export interface Relation {
  /** Name of the view in `reporting`. */
  readonly name: string;
  /** The description of a row. */
  readonly about: string;
  readonly columns: readonly DeclaredColumn[];
  /** The columns that identify and order rows, in the order of the index if there is one. */
  readonly key: readonly OrderColumn[];
  /** The dataset of the rows. Absent: the relation belongs to no dataset. */
  readonly dataset?: string;
  /** The entities for which rows are computed one by one. Absent: rows are read directly. */
  readonly entities?: EntityList;
  /** The numbering of the series of the rows. Absent: rows do not refer to a series by number. */
  readonly numbered?: SeriesNumbering;
  /**
   * The view in `reporting` with the rows of each node for the same keys, indexed by node and key. Absent:
   * there is no such view.
   */
  readonly perNodeView?: string;
  /** The owners of the lists whose elements are the rows. Absent: the rows are no list elements. */
  readonly listOwner?: ListOwner;
  /** The arrival time of the rows. Absent: no index finds rows by their arrival time. */
  readonly arrival?: Arrival;
  /** The parameters of a function; null for a view. */
  readonly parameters: readonly DeclaredParameter[] | null;
  /**
   * The function `reporting.X(timestamptz)` with the rows of a past moment. Null: {@link noPast} contains the
   * reason.
   */
  readonly asOf: string | null;
  /** The parts of the rows of {@link asOf}. */
  readonly pastParts?: readonly PastPart[];
  /**
   * The views in `reporting` that together contain the rows, if the index of the key can be used only within
   * each of them. Absent: the index can be used on the relation itself.
   */
  readonly parts?: readonly string[];
  /** The reason why past moments cannot be queried, and an alternative. */
  readonly noPast: string;
}

/** Types with an order. */
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

/** Returns the columns by which rows can be sorted and compared. */
export const orderedColumns = ({ columns }: Pick<Relation, 'columns'>) =>
  columns.filter(({ type }) => ORDERED.has(type));

/** Returns the columns as an order that no index supports. */
export const orderOf = (columns: readonly DeclaredColumn[]): OrderColumn[] =>
  columns.map(({ name, notNull }) => ({ name, nullable: !notNull }));
