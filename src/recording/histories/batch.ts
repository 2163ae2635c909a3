import type { Dataset, DatasetColumn, Target } from '../../datasets/contract.ts';
import { keyPart } from '../../datasets/dataset.ts';
import {
  requestOf,
  SERIES_ID,
  seriesTableOf,
  standingKey,
  standingRequest,
} from '../../datasets/target-columns.ts';
import type { Absence } from './absence.ts';
import { columnOfRows, type Row } from './rows.ts';
import type { Statement } from './statement-parts.ts';

/** The rows of one dataset in one commit. */
export interface Batch {
  readonly rows: readonly Row[];
  /** Rows whose keys are those of items that went to the quarantine: their recorded rows stay as they are. */
  readonly quarantinedKeys: readonly Row[];
  /** What the whole walk says about members that it did not show; null: nothing, so that nothing may be retired. */
  readonly absence: Absence | null;
}

/** One commit as the histories see it. */
export interface Write {
  readonly target: Target;
  readonly batches: readonly Batch[];
  /** When the run's first answer arrived: the instant that versions, points and readings carry. ISO 8601. */
  readonly observedAt: string;
  /** When the rows of this commit were recorded. ISO 8601. */
  readonly recordedAt: string;
  /** The rows were observed earlier, so newer ones may be recorded already: where they are, these rows change nothing. */
  readonly late: boolean;
  /** Set: each row of a log is looked up, as one that was taken for new was known. */
  readonly looksUp?: boolean;
}

/** The CTEs by which a history takes a batch. */
export interface Fragment {
  readonly ctes: readonly string[];
  /** The SQL that counts the rows it wrote. */
  readonly written: string;
  /** SQL: how many missing members wait for a confirmation; null: the walk proves nothing about missing members. */
  readonly unconfirmed: string;
  /** SQL: how many members are missing, if that is more than half and they wait for a confirmation; else null. */
  readonly shrunk: string;
  /** SQL of what it changed (`saying` in changes.ts): one row, or none. */
  readonly events: string;
}

/** Builds one history's part of the commit statement, for dataset number `at` of a feed. */
export type WriteHistory = <W extends Write>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
) => Fragment;

/** The columns that come from an item; those before them come from the request. */
export const itemColumns = (dataset: Dataset): readonly DatasetColumn[] =>
  dataset.columns.filter((column) => column.path.length > 0);

/** The columns of a row, with their places in it. */
const comingColumns = (dataset: Dataset) =>
  [...itemColumns(dataset), { name: 'extra', type: 'jsonb' }].map(({ name, type }, index) => ({
    name,
    type,
    index,
  }));

/** The key's columns that come from an item, with their place in a row. */
export function keyColumns(dataset: Dataset) {
  return itemColumns(dataset).flatMap(({ name, type, nullable }, index) =>
    dataset.key.includes(name) ? [{ name, type, nullable, index }] : [],
  );
}

/** SQL: what stands in the table for the request of a write, a value each of {@link standingRequest}. */
export function requestValues<W extends Write>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
): string[] {
  return dataset.numbered ? [`(select ${SERIES_ID} from series_${at})`] : asked(statement, dataset);
}

/** SQL: the values of the request of a write. */
const asked = <W extends Write>(statement: Statement<W>, { request }: Dataset): string[] =>
  request.map((key) => statement.param('text', ({ target }) => target[key] ?? ''));

/**
 * The CTEs that {@link requestValues} reads. A series gets its number with its first row. Only the run that holds the target writes it,
 * so that two cannot add it at once.
 */
export function requestCtes<W extends Write>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
): string[] {
  if (!dataset.numbered) return [];
  const table = `recorder.${seriesTableOf(dataset)}`;
  const names = requestOf(dataset).join(', ');
  const values = asked(statement, dataset).join(', ');
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

/** SQL: the columns of the rows of a batch, an array each. */
export function incomingArrays<W extends Write>(statement: Statement<W>, dataset: Dataset, at: number) {
  return comingColumns(dataset).map(({ name, type, index }) => ({
    name,
    array: statement.param(`${type}[]`, ({ batches }) => columnOfRows(batches[at]?.rows ?? [], index)),
  }));
}

/**
 * The rows of a batch as a FROM item: what stands for the request as constants, the other columns from one array each. They are unnested
 * side by side in a list: in a FROM item each array would be kept as rows of its own first.
 * @param arrays as {@link incomingArrays}
 */
export function incoming<W extends Write>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  arrays = incomingArrays(statement, dataset, at),
): string {
  const columns = arrays.map(({ name, array }) => `unnest(${array}) as ${name}`);
  return `select ${[...requestAs(statement, dataset, at), 'u.*'].join(', ')} from (select ${columns.join(', ')}) u`;
}

/** SQL: {@link requestValues} under the names of their columns. */
export function requestAs<W extends Write>(statement: Statement<W>, dataset: Dataset, at: number): string[] {
  const values = requestValues(statement, dataset, at);
  return standingRequest(dataset).map((name, index) => `${values[index]} as ${name}`);
}

/** All columns of a dataset's table that come from the upstream, or stand for what does; `extra` included. */
export function rowColumns(dataset: Dataset): string[] {
  return [...standingRequest(dataset), ...itemColumns(dataset).map(({ name }) => name), 'extra'];
}

/** `left` and `right` have the same natural key. */
export function sameKey(dataset: Dataset, left: string, right: string): string {
  return standingKey(dataset)
    .map((name) => {
      const nullable = dataset.columns.find((column) => column.name === name)?.nullable ?? false;
      return `${keyPart(name, nullable, left)} = ${keyPart(name, nullable, right)}`;
    })
    .join(' and ');
}
