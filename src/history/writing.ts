import type { Dataset, DatasetColumn, Target, Window } from '../datasets/contract.ts';
import { keyPart } from '../datasets/dataset.ts';
import type { Row } from './rows.ts';
import { arrayLiteral } from './rows.ts';
import type { Statement } from './statement.ts';

/** What one dataset gets in one commit. */
export interface Batch {
  readonly rows: readonly Row[];
  /** The keys seen in the whole run, where it proved that it saw everything; null: nothing may be retired. */
  readonly retire: {
    readonly seen: readonly Row[];
    readonly window: Window | null;
    readonly believe: Belief;
  } | null;
}

/**
 * When a complete look that misses more than half of the recorded rows is believed: a row is gone once `looks` looks in a
 * row missed it, the first of them at least `after` ms ago.
 */
export interface Belief {
  readonly looks: number;
  readonly after: number;
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
}

/** The CTEs by which a history takes a batch. */
export interface Fragment {
  readonly ctes: readonly string[];
  /** The SQL that counts the rows it wrote. */
  readonly written: string;
  /** SQL: why missing rows are not believed to be gone yet; null: no row is in doubt. */
  readonly unconfirmed: string;
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

/** The rows of a batch as a FROM item: request columns as constants, the others from one array a column. */
export function incoming<W extends Write>(statement: Statement<W>, dataset: Dataset, at: number): string {
  const request = dataset.request.map((key, index) => {
    const name = dataset.columns[index]?.name ?? key;
    return `${statement.param('text', ({ target }) => target[key] ?? '')} as ${name}`;
  });
  const columns = [...itemColumns(dataset), { name: 'extra', type: 'jsonb' }];
  const arrays = columns.map(({ type }, column) =>
    statement.param(`${type}[]`, ({ batches }) => arrayLiteral(batches[at]?.rows ?? [], column, type)),
  );
  const names = columns.map(({ name }) => name).join(', ');
  return `select ${[...request, 'u.*'].join(', ')} from unnest(${arrays.join(', ')}) as u(${names})`;
}

/** All columns of a dataset's row, `extra` included. */
export function rowColumns(dataset: Dataset): string[] {
  return [...dataset.columns.map(({ name }) => name), 'extra'];
}

/** `left` and `right` have the same natural key. */
export function sameKey(dataset: Dataset, left: string, right: string): string {
  return dataset.key
    .map((name) => {
      const nullable = dataset.columns.find((column) => column.name === name)?.nullable ?? false;
      return `${keyPart(name, nullable, left)} = ${keyPart(name, nullable, right)}`;
    })
    .join(' and ');
}
