import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type ColumnValue, DECIMAL_PRECISION, type FileColumn } from './file-columns.ts';
import { DecimalOverflowError, type FileWriter, type WrittenFile } from './file-writer.ts';
import { HashedFile } from './hashed-file.ts';

/**
 * Maximum number of rows of a row group. Query engines read row groups as a unit, and the current row group
 * is in memory.
 */
const MAX_GROUP_ROWS = 50_000;
/** Maximum size of the values of a row group, counted as characters of texts, and 8 for each other value. */
const MAX_GROUP_SIZE = 16_000_000;
/** Size of DECIMAL(38), in bytes. */
const DECIMAL_BYTES = 16;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];
type Compress = (bytes: Uint8Array) => Uint8Array;

/**
 * Native Snappy compression; undefined if the module has no build for this system. The Snappy of the Parquet
 * library writes the same format, but slower.
 */
const nativeSnappy = await import('snappy').then(
  ({ compressSync }): Compress => compressSync,
  () => undefined,
);

/** Writer whose bytes are flushed to the file after each row group. */
class FileBytes extends ByteWriter {
  readonly #file: HashedFile;

  constructor(file: HashedFile) {
    super(1 << 20);
    this.#file = file;
  }

  flush(): void {
    this.#file.write(this.getBytes());
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

/** Values of one column in the current row group, in the format of hyparquet-writer. */
interface GroupColumn {
  readonly column: FileColumn;
  /** True if another column holds the exact values, so that a number that does not fit becomes null. */
  readonly hasExact: boolean;
  data: (ColumnValue | null)[];
}

/** Writer of a Parquet file with Snappy compression. */
export class ParquetFile implements FileWriter {
  readonly #columns: readonly GroupColumn[];
  readonly #file: HashedFile;
  readonly #parquet: ParquetWriter;
  #rows = 0;
  #size = 0;

  constructor(path: string, columns: readonly FileColumn[]) {
    const exact = new Set(columns.map(({ exactOf }) => exactOf));
    this.#columns = columns.map((column) => ({
      column,
      hasExact: exact.has(column.name),
      data: [],
    }));
    this.#file = new HashedFile(path);
    this.#parquet = new ParquetWriter({
      writer: new FileBytes(this.#file),
      schema: schemaOf(columns),
      createdBy: 'chain-recorder',
      ...(nativeSnappy && { compressors: { SNAPPY: nativeSnappy } }),
    });
  }

  add(row: readonly (ColumnValue | null)[]): void {
    this.#columns.forEach(({ column, hasExact, data }, place) => {
      const value = row[place] ?? null;
      if (value === null && !column.nullable)
        throw new Error(`${column.name}: a row has no value, and the column is not nullable`);
      data.push(column.stored === 'decimal' ? decimalOf(value, column, hasExact) : value);
      this.#size += typeof value === 'string' ? value.length : 8;
    });
    this.#rows += 1;
    if (this.#rows >= MAX_GROUP_ROWS || this.#size >= MAX_GROUP_SIZE) this.#endGroup();
  }

  #endGroup(): void {
    if (this.#rows === 0) return;
    const columnData = this.#columns.map(({ column, data }) => ({ name: column.name, data }));
    this.#parquet.write({ columnData, rowGroupSize: this.#rows });
    for (const one of this.#columns) one.data = [];
    this.#rows = 0;
    this.#size = 0;
  }

  async finish(): Promise<WrittenFile> {
    this.#endGroup();
    await this.#parquet.finish();
    return { rows: Number(this.#parquet.num_rows), ...(await this.#file.finish()) };
  }

  abandon(): void {
    this.#file.abandon();
  }
}

function decimalOf(value: ColumnValue | null, { name, scale }: FileColumn, hasExact: boolean): bigint | null {
  if (value === null) return null;
  const unscaled = unscaledDecimal(String(value), scale);
  if (unscaled === null && !hasExact) throw new DecimalOverflowError(name);
  return unscaled;
}

/**
 * Returns a decimal number in units of 10^-scale. Returns null if it is not finite or does not fit
 * DECIMAL(38, scale).
 */
export function unscaledDecimal(text: string, scale: number): bigint | null {
  const [, sign, whole = '', decimals = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (sign === undefined || whole.length + scale > DECIMAL_PRECISION || /[1-9]/.test(decimals.slice(scale)))
    return null;
  return BigInt(`${sign}${whole}${decimals.slice(0, scale).padEnd(scale, '0')}`);
}

function schemaOf(columns: readonly FileColumn[]): Schema {
  return [
    { name: 'row', num_children: columns.length },
    ...columns.map(({ name, nullable, stored, scale }) => ({
      name,
      repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      ...physicalType(stored, scale),
    })),
  ];
}

function physicalType(stored: FileColumn['stored'], scale: number): Omit<Schema[number], 'name'> {
  switch (stored) {
    case 'boolean':
      return { type: 'BOOLEAN' };
    case 'bigint':
      return { type: 'INT64' };
    case 'double':
      return { type: 'DOUBLE' };
    case 'instant':
      return {
        type: 'INT64',
        converted_type: 'TIMESTAMP_MICROS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
      };
    case 'decimal':
      return {
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: DECIMAL_BYTES,
        converted_type: 'DECIMAL',
        precision: DECIMAL_PRECISION,
        scale,
        logical_type: { type: 'DECIMAL', precision: DECIMAL_PRECISION, scale },
      };
    case 'text':
    case 'json':
      return { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
  }
}
