import type { TextRow } from '../db/copy-text.ts';
import { parseMicroseconds } from '../lib/instant.ts';
import type { ExportTable } from './export-table.ts';

/** Value of a row: microseconds for instants, texts for long numbers and JSON. */
export type ColumnValue = string | bigint | boolean | number;

/** Column of a file. */
export interface FileColumn {
  readonly name: string;
  /** PostgreSQL type of the value. */
  readonly type: string;
  /** Type in Parquet. Numbers in text columns keep every digit. */
  readonly stored: 'text' | 'json' | 'boolean' | 'bigint' | 'double' | 'instant' | 'decimal';
  /** Number of digits after the decimal point, only for `decimal`. */
  readonly scale: number;
  readonly nullable: boolean;
  /** Index in a row of COPY. */
  readonly at: number;
  /** Constant value, for a column that is not in a row of COPY. */
  readonly always?: string;
  /** Name of the DECIMAL column whose exact values are in this column, because some value does not fit. */
  readonly exactOf?: string;
}

/** Maximum precision of DECIMAL in all engines. DuckDB reads larger precisions incorrectly. */
export const DECIMAL_PRECISION = 38;
/** Digits after the decimal point, for numbers with decimals. */
export const DECIMAL_SCALE = 18;

/** Returns the name of the text column with the exact values of a DECIMAL column. */
const exactName = (name: string) => `${name}_exact`;

const STORED: Readonly<Record<string, FileColumn['stored']>> = {
  text: 'text',
  jsonb: 'json',
  boolean: 'boolean',
  bigint: 'bigint',
  'double precision': 'double',
  timestamptz: 'instant',
  numeric: 'decimal',
};

/**
 * Returns the columns of the files of a table: the columns of the table, text columns with the exact values
 * of columns whose values do not fit, and `exported_at`.
 * @param inexact names of columns with a value that fits no DECIMAL
 * @param exportedAt ISO 8601, in microseconds
 */
export function fileColumns(
  table: ExportTable,
  inexact: ReadonlySet<string>,
  exportedAt: string,
): FileColumn[] {
  const own = table.columns.map((column, at): FileColumn => {
    const { name, type, nullable, digits } = column;
    const stored = digits === 'wide' ? 'text' : STORED[type];
    if (!stored) throw new Error(`${table.name}.${name}: the type ${type} is not supported in files`);
    const scale = digits === 'decimal' ? DECIMAL_SCALE : 0;
    return { name, type, stored, scale, nullable: nullable || inexact.has(name), at };
  });
  const exact = own
    .filter(({ name }) => inexact.has(name))
    .map(
      (column): FileColumn => ({
        ...column,
        name: exactName(column.name),
        stored: 'text',
        nullable: true,
        exactOf: column.name,
      }),
    );
  const instant: FileColumn = {
    name: 'exported_at',
    type: 'timestamptz',
    stored: 'instant',
    scale: 0,
    nullable: false,
    at: -1,
    always: String(parseMicroseconds(exportedAt)),
  };
  return [...own, ...exact, instant];
}

const PARSERS: Readonly<Record<FileColumn['stored'], (text: string) => ColumnValue>> = {
  text: (text) => text,
  json: (text) => text,
  decimal: (text) => text,
  boolean: (text) => text === 't',
  bigint: BigInt,
  double: Number,
  instant: BigInt,
};

/** Returns the function that parses the value of a column in a row of COPY. */
export function createParser({ stored, at, always }: FileColumn): (row: TextRow) => ColumnValue | null {
  const parse = PARSERS[stored];
  return (row) => {
    const text = always ?? row[at] ?? null;
    return text === null ? null : parse(text);
  };
}
