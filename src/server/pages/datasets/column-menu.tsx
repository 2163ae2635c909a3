import type { DeclaredColumn } from '../../../db/declared.ts';
import { OPERATOR_DESCRIPTIONS, type Operator } from '../../../reporting/relations/filters.ts';
import { type FilterParameter, listFilterParameters } from '../../../reporting/relations/list-parameters.ts';
import { orderedColumns, type ReportingRelation } from '../../../reporting/relations/readable.ts';
import { hrefOf, type Parameters, without } from './address.ts';
import { FilterField } from './filter-field.tsx';
import { HiddenFields } from './hidden-fields.tsx';

/** The URL of a table of rows, and its current parameters. */
export interface TableLocation {
  readonly readable: ReportingRelation;
  readonly path: string;
  readonly parameters: Parameters;
  /** The displayed columns. */
  readonly shown: readonly string[];
}

/** The operators in the form of a column. Others can be used in the URL. */
const MENU_OPERATORS: readonly Operator[] = ['eq', 'prefix', 'contains', 'gte', 'lte', 'null'];

/** Returns the filters of a table of rows. */
export const filtersOfRows = ({ columns, parameters }: ReportingRelation): FilterParameter[] =>
  listFilterParameters(
    columns,
    (parameters ?? []).map(({ name }) => name),
  );

const menuId = (column: string) => `column-${column}`;

/** The header of a column: sorts by it, and opens its menu. */
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
  const { path, parameters, readable } = place;
  const sort = sorted === 'ascending' ? `-${name}` : name;
  const sortable = orderedColumns(readable).some((one) => one.name === name);
  return (
    <span class="column-head">
      {sortable ? <a href={hrefOf(path, { ...without(parameters, 'after'), sort })}>{name}</a> : name}
      <button
        type="button"
        class="more"
        popoverTarget={menuId(name)}
        aria-label={`${name}: what it is, filter, hide`}
      />
    </span>
  );
}

/**
 * The menu of a column: its description, sorting, filters and hiding. The header opens it; it works without
 * JavaScript.
 */
export function ColumnMenu({
  column,
  place,
}: {
  readonly column: DeclaredColumn;
  readonly place: TableLocation;
}) {
  const { name, type, comment } = column;
  const { readable, path, parameters, shown } = place;
  const filters = filtersOfRows(readable).filter(
    (one) => one.column === name && MENU_OPERATORS.includes(one.operator),
  );
  const others = shown.filter((one) => one !== name);
  const rest = without(parameters, 'after', ...filters.map(({ parameter }) => parameter));
  const sortable = orderedColumns(readable).some((one) => one.name === name);
  const sorted = (sort: string) => hrefOf(path, { ...without(parameters, 'after'), sort });
  return (
    <div popover="auto" id={menuId(name)} class="menu" role="dialog" aria-label={name}>
      <p>
        <code>{name}</code> <span class="soft">{type}</span>
      </p>
      <p>{comment}</p>
      <p class="actions">
        {sortable && <a href={sorted(name)}>Sort rising</a>}
        {sortable && <a href={sorted(`-${name}`)}>Sort falling</a>}
        {others.length > 0 && <a href={hrefOf(path, { ...parameters, columns: others.join(',') })}>Hide</a>}
      </p>
      {filters.length > 0 && (
        <form method="get" action={path}>
          <HiddenFields of={rest} />
          {filters.map(({ parameter, operator, type }) => (
            <FilterField
              key={parameter}
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
