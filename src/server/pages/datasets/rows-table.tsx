import { parseExactInstant } from '../../../lib/instant.ts';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { MAX_DAYS } from '../../../reporting/relations/coverage-days.ts';
import type { RowsQuery } from '../../../reporting/relations/row-query.ts';
import type { Row } from '../../../reporting/relations/rows.ts';
import { type Column, Table } from '../parts/table.tsx';
import { columnKind, ValueText } from '../parts/value.tsx';
import { hrefOf, keepAsOf, type Parameters } from './address.ts';
import { chartOfRow } from './chart-of-row.ts';
import { ColumnHead, ColumnMenu, type TableLocation } from './column-menu.tsx';
import { orderTableColumns } from './column-order.ts';
import { pathOf } from './relation-head.tsx';
import { catalogue } from './relations.ts';

/** Rows as a table whose headers sort and filter. Rows of a dataset link to their history. */
export function RowsTable({
  place,
  dataset,
  question: { columns, order },
  rows,
  empty,
}: {
  readonly place: TableLocation;
  readonly dataset: ReadableDataset | null;
  readonly question: RowsQuery;
  readonly rows: readonly Row[];
  /** Notice if there are no rows. */
  readonly empty: string;
}) {
  const direction = order.descending ? 'descending' : 'ascending';
  const asOf = parseExactInstant(place.parameters.as_of ?? '');
  const ways = (row: Row): readonly RowLink[] =>
    (dataset
      ? [
          { label: 'history', href: historyOf(dataset, row, place.parameters) },
          { label: 'chart', href: chartOfRow(dataset, row, asOf) },
        ]
      : [{ label: 'coverage', href: coverageOf(row) }]
    ).flatMap(({ label, href }) => (href === null ? [] : [{ label, href }]));
  const ordered = dataset ? orderTableColumns(columns, dataset) : columns;
  const columnsOfRows = ordered.map((column): Column<Row> => {
    const { name, type, comment } = column;
    const sorted = order.columns[0]?.name === name ? direction : undefined;
    return {
      name,
      about: comment,
      kind: columnKind(type),
      sorted,
      head: <ColumnHead column={column} place={place} sorted={sorted} />,
      cell: (row) => <ValueText type={type} value={row[name] ?? null} />,
    };
  });
  const leads = rows.some((row) => ways(row).length > 0);
  return (
    <>
      <Table
        caption={`Rows of ${place.readable.name}`}
        columns={leads ? [waysColumn(ways), ...columnsOfRows] : columnsOfRows}
        rows={rows}
        keyOf={(row) => rows.indexOf(row)}
        empty={place.parameters.after ? 'No more rows.' : empty}
      />
      {columns.map((column) => (
        <ColumnMenu column={column} place={place} key={column.name} />
      ))}
    </>
  );
}

/** Returns the URL of the coverage of a row's target, or null if the row has no target. */
function coverageOf({ dataset, target, range_start: from, range_end: to }: Row): string | null {
  if (typeof dataset !== 'string' || typeof target !== 'string' || !catalogue.datasets.has(dataset))
    return null;
  const isRange = typeof from === 'string' && typeof to === 'string';
  const isShort = isRange && Date.parse(to) - Date.parse(from) < MAX_DAYS * 86_400_000;
  return hrefOf(pathOf(dataset, 'coverage'), { ...(isShort ? { from, to } : {}), target });
}

interface RowLink {
  readonly label: string;
  readonly href: string;
}

const waysColumn = (ways: (row: Row) => readonly RowLink[]): Column<Row> => ({
  name: 'More',
  head: <span class="unseen">More</span>,
  about: 'Links to the history of the row, its chart and its gaps.',
  cell: (row) => ways(row).flatMap(({ label, href }) => [<a href={href}>{label}</a>, ' ']),
});

/** Returns the URL of a row's history, or null if the row lacks a part of its dataset's key. */
export function historyOf(
  { name, key, now }: ReadableDataset,
  row: Row,
  parameters: Parameters,
): string | null {
  const nullable = new Set(now.key.filter((one) => one.emptyForNull).map((one) => one.name));
  const whole = key.every(
    (column) => row[column] !== undefined && (row[column] !== null || nullable.has(column)),
  );
  if (!whole) return null;
  const keyValues = key.map((column): [string, string | null] => {
    const value = row[column];
    return [column, value === null || value === undefined ? null : String(value)];
  });
  return hrefOf(pathOf(name, 'row'), { ...Object.fromEntries(keyValues), ...keepAsOf(parameters) });
}
