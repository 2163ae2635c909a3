import type { DeclaredColumn } from '../../../db/declared.ts';
import { parseExactInstant } from '../../../lib/instant.ts';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import { MAX_DAYS } from '../../../reporting/relations/coverage-days.ts';
import { OPERATOR_DESCRIPTIONS, type Operator } from '../../../reporting/relations/filters.ts';
import { type FilterParameter, listFilterParameters } from '../../../reporting/relations/list-parameters.ts';
import { orderedColumns, type Relation } from '../../../reporting/relations/relation.ts';
import type { RowsQuery } from '../../../reporting/relations/row-query.ts';
import type { Row } from '../../../reporting/relations/rows.ts';
import { roleBesideKey } from '../../../reporting/views/column-metadata.ts';
import { FormField } from '../parts/fields.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { columnKind, ValueText } from '../parts/value.tsx';
import { changedAddress, hrefOf, keepAsOf, type PageAddress, type Parameters, without } from './addresses.ts';
import { HiddenFields } from './filters.tsx';
import { chartOfRow, relationPath } from './relation-head.tsx';
import { datasetNamed } from './relations.ts';

/**
 * Orders the columns of a table of rows, so that the important columns are visible on a narrow screen:
 * - the columns of the key that are not in the request, up to the first time
 * - the measures
 * - the other columns of the key; before the measures if all columns that are not in the request are times
 * - all other columns
 * - the observer
 */
export function orderTableColumns<Column extends Pick<DeclaredColumn, 'name' | 'type'>>(
  columns: readonly Column[],
  { key, request }: Pick<DatasetRelations, 'key' | 'request'>,
): Column[] {
  const observer = ['observer', 'node'].find((name) => request.includes(name));
  if (key.every((name) => name === observer)) return [...columns];
  const times = new Set(columns.flatMap(({ name, type }) => (type === 'timestamptz' ? [name] : [])));
  const ownKey = key.filter((name) => !request.includes(name));
  const isIdentifiedAlone = ownKey.some((name) => !times.has(name));
  const timeAt = ownKey.findIndex((name) => times.has(name));
  const identifying = new Set(timeAt > 0 ? ownKey.slice(0, timeAt) : ownKey);
  const rank = ({ name, type }: Column) => {
    if (name === observer) return 5;
    if (identifying.has(name)) return 0;
    if (key.includes(name)) return isIdentifiedAlone ? 3 : 1;
    return roleBesideKey({ name, type }) === 'measure' ? 2 : 4;
  };
  return columns.toSorted((one, other) => rank(one) - rank(other));
}

/** The URL of a table of rows, and its current parameters. */
export interface TableLocation extends PageAddress {
  readonly relation: Relation;
  readonly visibleColumns: readonly string[];
}

/** The operators in the form of a column. URLs can contain further operators. */
const MENU_OPERATORS: readonly Operator[] = ['eq', 'prefix', 'contains', 'gte', 'lte', 'null'];

export const filtersOfRows = ({ columns, parameters }: Relation): FilterParameter[] =>
  listFilterParameters(
    columns,
    (parameters ?? []).map(({ name }) => name),
  );

const menuId = (column: string) => `column-${column}`;

/**
 * The header of a column, with a link that sorts the rows, and a button that opens the menu of the column.
 */
export function ColumnHead({
  column,
  place,
  sorted,
}: {
  readonly column: DeclaredColumn;
  readonly place: TableLocation;
  readonly sorted: 'ascending' | 'descending' | undefined;
}) {
  const { name } = column;
  const sort = sorted === 'ascending' ? `-${name}` : name;
  const sortable = orderedColumns(place.relation).some((one) => one.name === name);
  return (
    <span class="column-head">
      {sortable ? <a href={changedAddress(place, { sort })}>{name}</a> : name}
      <button
        type="button"
        class="more"
        popoverTarget={menuId(name)}
        aria-label={`${name}: description, filter, hide`}
      />
    </span>
  );
}

/**
 * The menu of a column: its description, sorting, filters and hiding. The header opens the menu, which does
 * not require JavaScript.
 */
export function ColumnMenu({
  column,
  place,
}: {
  readonly column: DeclaredColumn;
  readonly place: TableLocation;
}) {
  const { name, type, comment } = column;
  const { relation, path, parameters, visibleColumns } = place;
  const filters = filtersOfRows(relation).filter(
    (one) => one.column === name && MENU_OPERATORS.includes(one.operator),
  );
  const others = visibleColumns.filter((one) => one !== name);
  const rest = without(parameters, 'after', ...filters.map(({ parameter }) => parameter));
  const sortable = orderedColumns(relation).some((one) => one.name === name);
  return (
    <div popover="auto" id={menuId(name)} class="menu" role="dialog" aria-label={name}>
      <p>
        <code>{name}</code> <span class="soft">{type}</span>
      </p>
      <p>{comment}</p>
      <p class="actions">
        {sortable && <a href={changedAddress(place, { sort: name })}>Sort ascending</a>}
        {sortable && <a href={changedAddress(place, { sort: `-${name}` })}>Sort descending</a>}
        {others.length > 0 && <a href={hrefOf(path, { ...parameters, columns: others.join(',') })}>Hide</a>}
      </p>
      {filters.length > 0 && (
        <form method="get" action={path}>
          <HiddenFields of={rest} />
          {filters.map(({ parameter, operator, type }) => (
            <FormField
              id={`${menuId(name)}-${operator}`}
              label={operator === 'null' ? 'is null' : OPERATOR_DESCRIPTIONS[operator]}
              name={parameter}
              type={type}
              value={parameters[parameter] ?? ''}
            />
          ))}
          <button type="submit">Filter</button>
        </form>
      )}
    </div>
  );
}

/** Rows as a table whose headers sort and filter. Rows of a dataset link to their history. */
export function RowsTable({
  place,
  dataset,
  query: { columns, order },
  rows,
  empty,
}: {
  readonly place: TableLocation;
  readonly dataset: DatasetRelations | null;
  readonly query: RowsQuery;
  readonly rows: readonly Row[];
  /** Notice if there are no rows. */
  readonly empty: string;
}) {
  const direction = order.descending ? 'descending' : 'ascending';
  const asOf = parseExactInstant(place.parameters.as_of ?? '');
  const linksOf = (row: Row): readonly RowLink[] =>
    (dataset
      ? [
          { label: 'history', href: historyOf(dataset, row, place.parameters) },
          { label: 'chart', href: chartOfRow(dataset, row, asOf) },
        ]
      : [{ label: 'coverage', href: coverageOf(row) }]
    ).flatMap(({ label, href }) => (href === null ? [] : [{ label, href }]));
  const ordered = dataset ? orderTableColumns(columns, dataset) : columns;
  const columnsOfRows = ordered.map((column): TableColumn<Row> => {
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
  const hasLinks = rows.some((row) => linksOf(row).length > 0);
  return (
    <>
      <Table
        caption={`Rows of ${place.relation.name}`}
        columns={hasLinks ? [linksColumn(linksOf), ...columnsOfRows] : columnsOfRows}
        rows={rows}
        empty={place.parameters.after ? 'No more rows.' : empty}
      />
      {columns.map((column) => (
        <ColumnMenu column={column} place={place} />
      ))}
    </>
  );
}

/** Returns the URL of the coverage of a row's target, or null if the row has no target. */
function coverageOf({ dataset, target, range_start: from, range_end: to }: Row): string | null {
  const place = typeof dataset === 'string' ? datasetNamed(dataset) : null;
  if (place === null || typeof target !== 'string') return null;
  const isRange = typeof from === 'string' && typeof to === 'string';
  const isShort = isRange && Date.parse(to) - Date.parse(from) < MAX_DAYS * 86_400_000;
  return hrefOf(relationPath(place.now.name, 'coverage'), { ...(isShort ? { from, to } : {}), target });
}

interface RowLink {
  readonly label: string;
  readonly href: string;
}

const linksColumn = (linksOf: (row: Row) => readonly RowLink[]): TableColumn<Row> => ({
  name: 'More',
  head: <span class="unseen">More</span>,
  about: 'Links to the history of the row, its chart and its gaps.',
  cell: (row) => linksOf(row).flatMap(({ label, href }) => [<a href={href}>{label}</a>, ' ']),
});

/** Returns the URL of the history of a row; null if the row lacks a part of the key of its dataset. */
export function historyOf({ key, now }: DatasetRelations, row: Row, parameters: Parameters): string | null {
  const nullable = new Set(now.key.filter((one) => one.emptyForNull).map((one) => one.name));
  const whole = key.every(
    (column) => row[column] !== undefined && (row[column] !== null || nullable.has(column)),
  );
  if (!whole) return null;
  const keyValues = key.map((column): [string, string | null] => {
    const value = row[column];
    return [column, value === null || value === undefined ? null : String(value)];
  });
  return hrefOf(relationPath(now.name, 'row'), { ...Object.fromEntries(keyValues), ...keepAsOf(parameters) });
}
