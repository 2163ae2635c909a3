import type { Dataset } from './contract.ts';

/**
 * How a dataset's request stands in its table: as its own columns, or as the number of a series (`numbered`), which a table beside it
 * holds once. Whatever names request columns in a table asks here.
 */

/** The column with the number of a series. */
export const SERIES_ID = 'series_id';

/** The table and the view that hold what the numbers of a numbered dataset stand for. */
export const seriesTableOf = ({ name }: Pick<Dataset, 'name'>): string => `${name}_series`;

/** The names of the request's columns, in the order of the request. */
export const requestOf = ({ columns }: Pick<Dataset, 'columns'>): string[] =>
  columns.filter(({ path }) => path.length === 0).map(({ name }) => name);

/** What stands in the table for the request. */
export const standingRequest = (dataset: Pick<Dataset, 'columns' | 'numbered'>): string[] =>
  dataset.numbered ? [SERIES_ID] : requestOf(dataset);

/** The columns of the key as they stand in the table. */
export function standingKey(dataset: Pick<Dataset, 'columns' | 'numbered' | 'key'>): string[] {
  if (!dataset.numbered) return [...dataset.key];
  const request = requestOf(dataset);
  return [SERIES_ID, ...dataset.key.filter((name) => !request.includes(name))];
}

/**
 * SQL: the rows of a dataset's table with all of their columns, as a FROM item.
 * @param system columns that PostgreSQL adds to a table and not to a select, such as `ctid`, that are wanted as well
 */
export function rowsOf(dataset: Dataset, ...system: readonly string[]): string {
  const table = `recorder.${dataset.name}`;
  if (!dataset.numbered) return table;
  const more = [
    ...requestOf(dataset).map((name) => `s.${name}`),
    ...system.map((name) => `p.${name}`),
    'p.*',
  ];
  return `(select ${more.join(', ')} from ${table} p join recorder.${seriesTableOf(dataset)} s using (${SERIES_ID}))`;
}
