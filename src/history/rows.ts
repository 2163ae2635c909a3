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
 * fastest statement that can also be fenced. The texts are joined at once: a literal that grows value by value is a chain of
 * small objects, which the garbage collector has to follow until it is sent.
 */
export function arrayLiteral(rows: readonly Row[], column: number, type: string): string {
  const bare = BARE.has(type);
  const values = rows.map((row) => row[column] ?? null);
  if (bare || values.includes(null)) return `{${values.map((value) => element(value, bare)).join(',')}}`;
  return values.length === 0 ? '{}' : `{"${values.map(escaped).join('","')}"}`;
}

function element(value: string | null, bare: boolean): string {
  if (value === null) return 'NULL';
  return bare ? value : `"${escaped(value)}"`;
}

/** A text as it stands between the quotes of an array's element. */
const escaped = (value: string | null): string =>
  value === null ? '' : /["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value;
