import type { Dataset } from '../../datasets/contract.ts';
import type { DeclaredColumn } from '../../db/declared.ts';

/** A column of a view; `from` is its expression, if it is not the column of the same name. */
export interface ViewColumn extends DeclaredColumn {
  readonly from?: string;
}

/** Returns a column that the recorder adds to those of the upstream. */
export const recorderColumn = (name: string, type: string, comment: string): ViewColumn => ({
  name,
  type,
  comment,
});

/** The column with the run that recorded a row. */
export const runIdColumn = recorderColumn('run_id', 'bigint', 'The run that recorded it (reporting.runs).');

/**
 * Returns the columns of a dataset in its views: the upstream fields, and a column with the fields that the
 * recorder does not know.
 */
export function upstreamColumns(dataset: Dataset): ViewColumn[] {
  const extra = recorderColumn('extra', 'jsonb', 'Fields that the recorder does not know, as they came.');
  const columns = dataset.columns.map((column) => ({ ...column, notNull: !column.nullable }));
  return [...columns, ...(dataset.extra === false ? [] : [extra])];
}

/** Columns that the recorder fills in every row. */
const ALWAYS: ReadonlySet<string> = new Set(['run_id', 'recorded_at', 'observed_at', 'valid_from']);

/** Returns a column in declared form, without its expression. */
export const declareColumn = ({ name, type, comment, notNull }: ViewColumn): DeclaredColumn => ({
  name,
  type,
  comment,
  ...(notNull || ALWAYS.has(name) ? { notNull: true } : {}),
});
