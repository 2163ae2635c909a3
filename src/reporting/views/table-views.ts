import type { Dataset } from '../../datasets/contract.ts';
import { tableRowsSql } from '../../datasets/target-columns.ts';
import type { Declared, DeclaredColumn, DeclaredView } from '../../db/declared.ts';
import { sortAsReleased } from './released-columns.ts';
import { declareColumn, type ViewColumn } from './view-columns.ts';

/**
 * Returns a view of a dataset's table.
 * @param about the comment of the view
 * @param parts conditions; the view has the rows of each of them
 */
export function tableView(
  dataset: Dataset,
  name: string,
  about: string,
  selected: readonly ViewColumn[],
  ...parts: readonly string[]
): DeclaredView {
  const columns = sortAsReleased(name, selected);
  const list = columns
    .map((column) => (column.from ? `${column.from} as ${column.name}` : column.name))
    .join(', ');
  const body = parts
    .map((where) => `select ${list} from ${tableRowsSql(dataset)} r where ${where}`)
    .join('\nunion all\n');
  return { kind: 'view', name, comment: about, columns: columns.map(declareColumn), body };
}

/** Returns the function that returns the rows of a view as of a moment, without its comment and its query. */
export const asOfMoment = (view: string, columns: readonly DeclaredColumn[]) => ({
  kind: 'function' as const,
  name: `${view}_as_of`,
  parameters: [{ name: 'at', type: 'timestamptz', comment: 'The moment.' }],
  rowsOf: view,
  columns,
});

/**
 * Returns the function that returns the rows of a dataset at a past moment.
 * @param parts the FROM items of its rows, and their conditions
 */
export function asOfFunction(
  dataset: Dataset,
  selected: readonly ViewColumn[],
  ...parts: readonly { readonly from: string; readonly where: string }[]
): Declared {
  const { name } = dataset;
  // The function returns rows of the type of the view.
  const columns = sortAsReleased(name, selected);
  const list = columns.map((column) => column.from ?? column.name).join(', ');
  return {
    ...asOfMoment(name, columns.map(declareColumn)),
    comment: `What ${name} held at a past moment, by what had been seen until then. A moment before the first recording is an error.`,
    body: parts
      .map(
        ({ from, where }) =>
          // The start of the record is read once per query. The function that raises the error is called only
          // for a moment before that start: if a query joins many moments, PostgreSQL may call it for each
          // row.
          `select ${list} from ${from} where ${where} and (at >= (select reporting_internal.known_since('${name}')) or reporting_internal.has_record('${name}', at))`,
      )
      .join('\nunion all\n'),
  };
}
