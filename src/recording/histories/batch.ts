import type { Dataset, DatasetColumn, Target } from '../../datasets/contract.ts';
import { keyColumnSql } from '../../datasets/dataset.ts';
import {
  requestColumns,
  SERIES_ID,
  seriesTableOf,
  tableKeyColumns,
  tableRequestColumns,
} from '../../datasets/target-columns.ts';
import type { AbsenceEvidence } from './absence.ts';
import { columnOfRows, type EncodedRow } from './rows.ts';
import type { Statement } from './statement-parts.ts';

/** The rows of one dataset in one commit. */
export interface DatasetBatch {
  readonly rows: readonly EncodedRow[];
  /** Rows with the keys of quarantined items. Stored rows with these keys are not changed. */
  readonly quarantinedKeys: readonly EncodedRow[];
  /** Evidence of the complete walk about missing members. Null: no member may be retired. */
  readonly absence: AbsenceEvidence | null;
}

/** Input of the histories for one commit. */
export interface CommitInput {
  readonly target: Target;
  readonly batches: readonly DatasetBatch[];
  /**
   * Time at which the first response of the run arrived, ISO 8601. The time is stored with versions, points
   * and readings.
   */
  readonly observedAt: string;
  /** Time at which the rows of this commit were recorded, ISO 8601. */
  readonly recordedAt: string;
  /** True if the rows were observed earlier. Such rows do not change keys for which newer rows are stored. */
  readonly late: boolean;
  /** If true, every row of a log is looked up, because a previous attempt considered an existing row new. */
  readonly shouldLookUp?: boolean;
}

/** CTEs and SQL expressions of one history in the commit statement. */
export interface CommitFragment {
  readonly ctes: readonly string[];
  /** SQL: number of rows written. */
  readonly written: string;
  /**
   * SQL: number of missing members that wait for a confirmation. Null: missing members cannot be determined
   * from the walk.
   */
  readonly unconfirmed: string;
  /**
   * SQL: text with the number of missing members, if more than half are missing and wait for a confirmation;
   * else null.
   */
  readonly shrunk: string;
  /** SQL: select of the changes (`changeSelectSql` in changes.ts), with at most one row. */
  readonly events: string;
}

/** Builds the part of the commit statement for dataset number `at` of a feed. */
export type WriteHistory = <W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
) => CommitFragment;

/** Returns the columns that come from an item. In the table, the columns of the request are first. */
export const itemColumns = (dataset: Dataset): readonly DatasetColumn[] =>
  dataset.columns.filter((column) => column.path.length > 0);

/** Columns of a row with their indexes. */
const batchColumns = (dataset: Dataset) =>
  [...itemColumns(dataset), { name: 'extra', type: 'jsonb' }].map(({ name, type }, index) => ({
    name,
    type,
    index,
  }));

/** Returns the key columns that come from an item, with their indexes in a row. */
export function keyColumns(dataset: Dataset) {
  return itemColumns(dataset).flatMap(({ name, type, nullable }, index) =>
    dataset.key.includes(name) ? [{ name, type, nullable, index }] : [],
  );
}

/**
 * SQL: values that identify the request of a write in the table, one per column of
 * {@link tableRequestColumns}.
 */
export function requestValues<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
): string[] {
  return dataset.numbered ? [`(select ${SERIES_ID} from series_${at})`] : requestParams(statement, dataset);
}

/** SQL: values of the request of a write. */
const requestParams = <W extends CommitInput>(statement: Statement<W>, { request }: Dataset): string[] =>
  request.map((key) => statement.param('text', ({ target }) => target[key] ?? ''));

/**
 * Builds the CTEs that {@link requestValues} reads. A series gets its number with its first row. Only the run
 * that holds the lease of the target inserts the series, so that two runs cannot insert the same series
 * concurrently.
 */
export function requestCtes<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
): string[] {
  if (!dataset.numbered) return [];
  const table = `recorder.${seriesTableOf(dataset)}`;
  const names = requestColumns(dataset).join(', ');
  const values = requestParams(statement, dataset).join(', ');
  const hasRows = statement.param('boolean', ({ batches }) => (batches[at]?.rows.length ?? 0) > 0);
  return [
    `known_series_${at} as materialized (select ${SERIES_ID} from ${table} where (${names}) = (${values}))`,
    `added_series_${at} as (
        insert into ${table} (${names}) select ${values} from fence
        where ${hasRows} and not exists (select from known_series_${at}) returning ${SERIES_ID})`,
    `series_${at} as materialized (
        select ${SERIES_ID} from known_series_${at} union all select ${SERIES_ID} from added_series_${at})`,
  ];
}

/** SQL: one array per column of the rows of a batch. */
export function batchArrays<W extends CommitInput>(statement: Statement<W>, dataset: Dataset, at: number) {
  return batchColumns(dataset).map(({ name, type, index }) => ({
    name,
    array: statement.param(`${type}[]`, ({ batches }) => columnOfRows(batches[at]?.rows ?? [], index)),
  }));
}

/**
 * SQL: select of the rows of a batch: the request as constants, all other columns unnested from one array
 * each. The arrays are unnested in the select list, because PostgreSQL materializes each function in FROM
 * first.
 * @param arrays result of {@link batchArrays}
 */
export function batchRowsSql<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  arrays = batchArrays(statement, dataset, at),
): string {
  const columns = arrays.map(({ name, array }) => `unnest(${array}) as ${name}`);
  return `select ${[...requestSelectSql(statement, dataset, at), 'u.*'].join(', ')} from (select ${columns.join(', ')}) u`;
}

/** SQL: {@link requestValues} with the names of their columns. */
export function requestSelectSql<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
): string[] {
  const values = requestValues(statement, dataset, at);
  return tableRequestColumns(dataset).map((name, index) => `${values[index]} as ${name}`);
}

/**
 * Returns the columns of the table of a dataset that come from the upstream or represent its request,
 * including `extra`.
 */
export function rowColumns(dataset: Dataset): string[] {
  return [...tableRequestColumns(dataset), ...itemColumns(dataset).map(({ name }) => name), 'extra'];
}

/** SQL: condition that `left` and `right` have the same natural key. */
export function sameKeySql(dataset: Dataset, left: string, right: string): string {
  return tableKeyColumns(dataset)
    .map((name) => {
      const nullable = dataset.columns.find((column) => column.name === name)?.nullable ?? false;
      return `${keyColumnSql(name, nullable, left)} = ${keyColumnSql(name, nullable, right)}`;
    })
    .join(' and ');
}
