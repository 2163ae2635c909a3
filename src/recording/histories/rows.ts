import { arrayLiteral } from '../../db/postgres-workarounds/array-types.ts';

/** A decoded row: one text (or null) a column, in the order of the dataset's item columns, `extra` last. */
export type Row = readonly (string | null)[];

/** One column of rows as the text of an array. PostgreSQL inserts arrays by `unnest` as fast as a statement that is fenced can. */
export const columnOfRows = (rows: readonly Row[], index: number): string =>
  arrayLiteral(rows.map((row) => row[index] ?? null));
