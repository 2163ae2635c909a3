import type { Dataset } from './contract.ts';

/**
 * Representation of the request of a dataset in its table: as separate columns, or as the number of a series
 * (`numbered`), whose values are stored once in a second table. All code that refers to request columns in a
 * table uses these functions.
 */

/** Column with the number of a series. */
export const SERIES_ID = 'series_id';

/** Returns the name of the table and the view with the request values of a numbered dataset. */
export const seriesTableOf = ({ name }: Pick<Dataset, 'name'>): string => `${name}_series`;

/** Returns the names of the columns of the request, in the order of the request. */
export const requestColumns = ({ columns }: Pick<Dataset, 'columns'>): string[] =>
  columns.filter(({ path }) => path.length === 0).map(({ name }) => name);

/** Returns the columns of the table that identify the request. */
export const tableRequestColumns = (dataset: Pick<Dataset, 'columns' | 'numbered'>): string[] =>
  dataset.numbered ? [SERIES_ID] : requestColumns(dataset);

/** Returns the columns of the key in the table. */
export function tableKeyColumns(dataset: Pick<Dataset, 'columns' | 'numbered' | 'key'>): string[] {
  if (!dataset.numbered) return [...dataset.key];
  const request = requestColumns(dataset);
  return [SERIES_ID, ...dataset.key.filter((name) => !request.includes(name))];
}

/**
 * SQL: the rows of the table of a dataset with all of their columns, as a FROM item.
 * @param system additional system columns of PostgreSQL, such as `ctid`
 */
export function tableRowsSql(dataset: Dataset, ...system: readonly string[]): string {
  const table = `recorder.${dataset.name}`;
  if (!dataset.numbered) return table;
  const more = [
    ...requestColumns(dataset).map((name) => `s.${name}`),
    ...system.map((name) => `p.${name}`),
    'p.*',
  ];
  return `(select ${more.join(', ')} from ${table} p join recorder.${seriesTableOf(dataset)} s using (${SERIES_ID}))`;
}
