import type { ColumnType } from '../datasets/fields.ts';

/** A decoded row: one text (or null) a column, in the order of the dataset's item columns, `extra` last. */
export type Row = readonly (string | null)[];

/** Types whose texts never need quotes in an array literal. */
const BARE: ReadonlySet<string> = new Set<ColumnType>([
  'numeric',
  'bigint',
  'boolean',
  'timestamptz',
  'double precision',
]);

/**
 * One column of many rows as the literal of a PostgreSQL array. Inserting by `unnest` of one array a column is the
 * fastest statement that can also be fenced.
 */
export function arrayLiteral(rows: readonly Row[], column: number, type: string): string {
  const bare = BARE.has(type);
  let literal = '{';
  for (let at = 0; at < rows.length; at++) {
    if (at > 0) literal += ',';
    const value = rows[at]?.[column] ?? null;
    if (value === null) literal += 'NULL';
    else if (bare) literal += value;
    else literal += /["\\]/.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : `"${value}"`;
  }
  return `${literal}}`;
}
