import type { Dataset } from '../../datasets/contract.ts';
import { tableRowsSql } from '../../datasets/target-columns.ts';
import type { Declared, DeclaredColumn, DeclaredView } from '../../db/declared.ts';
import { sortAsReleased } from './released-columns.ts';
import { declareColumn, type ViewColumn } from './view-columns.ts';

/** A part of the rows of a table. */
export interface TablePart {
  /** SQL of the condition on rows `r`. */
  readonly where: string;
  /** SQL of columns that differ between the parts, by name. */
  readonly columns?: Readonly<Record<string, string>>;
}

/**
 * Returns a view of a dataset's table.
 * @param about the comment of the view
 * @param parts the view is the union of these parts
 */
export function tableView(
  dataset: Dataset,
  name: string,
  about: string,
  selected: readonly ViewColumn[],
  ...parts: readonly TablePart[]
): DeclaredView {
  const columns = sortAsReleased(name, selected);
  const list = (own: TablePart['columns'] = {}) =>
    columns
      .map((column) => ({ name: column.name, from: own[column.name] ?? column.from }))
      .map(({ name: column, from }) => (from ? `${from} as ${column}` : column))
      .join(', ');
  const body = parts
    .map(({ where, columns: own }) => `select ${list(own)} from ${tableRowsSql(dataset)} r where ${where}`)
    .join('\nunion all\n');
  return { kind: 'view', name, comment: about, columns: columns.map(declareColumn), body };
}

/**
 * Returns SQL of an as-of function: a check that the dataset has a record of the moment, and the rows of
 * `body`. The check is a separate branch of a UNION ALL, because PostgreSQL does not run a check that is
 * joined with no rows. `offset 0` prevents PostgreSQL from detecting that the branch has no rows.
 */
export const withRecordCheck = (
  dataset: string,
  columns: readonly DeclaredColumn[],
  body: string,
) => `select * from (
  select ${columns.map((column) => `null::${column.type} as ${column.name}`).join(', ')} where not reporting_internal.has_record('${dataset}', at) offset 0
) without_record
union all
${body}`;

/** The suffix of the internal view with the last version of each row. */
export const LAST = 'last';
/** The suffix of the internal view with all versions before the last version of each row. */
export const REPLACED = 'replaced';

/**
 * Returns the view `D_history` with all versions of the rows of a series or a log, and the internal views of
 * its two parts. The parts have their own views, because PostgreSQL cannot use the order of an index for the
 * union of both.
 */
export function historyViews(
  dataset: Dataset,
  selected: readonly ViewColumn[],
  last: TablePart,
  replaced: TablePart,
): DeclaredView[] {
  const { relation, about } = dataset;
  const part = (suffix: string, rows: string, of: TablePart): DeclaredView => ({
    ...tableView(dataset, `${relation}_${suffix}`, `${about} ${rows}`, selected, of),
    schema: 'reporting_internal',
  });
  return [
    tableView(
      dataset,
      `${relation}_history`,
      `${about} Every version of every row.`,
      selected,
      last,
      replaced,
    ),
    part(LAST, 'The last version of every row.', last),
    part(REPLACED, 'The versions before the last one.', replaced),
  ];
}

/** Returns the function that returns the rows of a view as of a moment, without its comment and its query. */
export const asOfMoment = (
  view: Pick<DeclaredView, 'name' | 'schema'>,
  columns: readonly DeclaredColumn[],
) => ({
  kind: 'function' as const,
  name: `${view.name}_as_of`,
  parameters: [{ name: 'at', type: 'timestamptz', comment: 'The moment.' }],
  rowsOf: view,
  columns,
});

/**
 * Returns the function that returns the rows of a dataset at a past moment.
 * @param parts the FROM item and the condition of each part of the rows
 */
export function asOfFunction(
  dataset: Dataset,
  selected: readonly ViewColumn[],
  ...parts: readonly { readonly from: string; readonly where: string }[]
): Declared {
  const { name, relation } = dataset;
  // The function returns rows of the type of the view.
  const columns = sortAsReleased(relation, selected);
  const list = columns.map((column) => column.from ?? column.name).join(', ');
  return {
    ...asOfMoment({ name: relation }, columns.map(declareColumn)),
    comment: `The rows of ${relation} as of a past moment, as known then. A moment before the first recording is an error.`,
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
