import type { Dataset } from '../../datasets/contract.ts';
import { versionIdSql } from '../../datasets/version-id.ts';
import type { DeclaredColumn } from '../../db/declared.ts';

/** A column of a view. `from` is the SQL expression of the column if it differs from the name. */
export interface ViewColumn extends DeclaredColumn {
  readonly from?: string;
}

/** Returns a column that the recorder adds to those of the upstream. */
export const recorderColumn = (name: string, type: string, comment: string): ViewColumn => ({
  name,
  type,
  comment,
});

export const validFromColumn = recorderColumn(
  'valid_from',
  'timestamptz',
  'Start of the version, as far as it was observed.',
);
export const validToColumn = recorderColumn(
  'valid_to',
  'timestamptz',
  'End of the version, as far as it was observed. Null: the version is current.',
);
export const endedByColumn = recorderColumn(
  'ended_by',
  'text',
  'Reason for the end of the version: changed (a newer version replaced it), gone (a complete response no longer contained the row) or unwatched (the target of the row is no longer configured). Null: the version is current.',
);

/** The column with the surrogate key of a version. */
export const versionIdColumn: ViewColumn = {
  name: 'version_id',
  type: 'uuid',
  comment:
    'Surrogate key of the version, the same in every database that recorded it: a hash of the dataset, the key and the start of the version.',
  notNull: true,
};

/** Returns the column with the surrogate key of a version, computed from a row `r` of the table. */
export const computedVersionId = (dataset: Dataset): ViewColumn => ({
  ...versionIdColumn,
  from: versionIdSql(dataset, 'valid_from', (column) => `r.${column}`),
});

/** The column with the run that recorded a row. */
export const runIdColumn = recorderColumn(
  'run_id',
  'bigint',
  'The run that recorded the row (reporting.runs).',
);

/**
 * Returns the columns of a dataset in its views: the declared upstream fields, and one column with all other
 * fields.
 */
export function upstreamColumns(dataset: Dataset): ViewColumn[] {
  const extra = recorderColumn('extra', 'jsonb', 'Fields without a column of their own, as received.');
  const columns = dataset.columns.map((column) => ({ ...column, notNull: !column.nullable }));
  return [...columns, ...(dataset.extra === false ? [] : [extra])];
}

/** Columns that the recorder fills in every row. */
const ALWAYS: ReadonlySet<string> = new Set(['run_id', 'observed_at', 'valid_from']);

/** Returns a column in declared form, without its expression. */
export const declareColumn = ({ name, type, comment, notNull }: ViewColumn): DeclaredColumn => ({
  name,
  type,
  comment,
  ...(notNull || ALWAYS.has(name) ? { notNull: true } : {}),
});
