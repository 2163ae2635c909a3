import zlib from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type FileColumn, PRECISION, unscaled, type Value } from './file-columns.ts';
import { DoesNotFit, type FileWriter, type Written } from './file-writer.ts';
import { HashedFile } from './hashed-file.ts';

/** Rows of a row group: what engines read at once, and what stands in memory. */
const ROWS_IN_GROUP = 100_000;
/** A row group is shorter where its texts are long; UTF-16 units. */
const TEXT_IN_GROUP = 16_000_000;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];
type Compress = (bytes: Uint8Array) => Uint8Array;

/** Node.js 22.15 and newer have zstd, which the types of Node.js 20 do not know; before, files are compressed by snappy. */
const { zstdCompressSync: zstd }: { gzipSync: unknown; zstdCompressSync?: Compress } = zlib;

/** Bytes that go to the file after every row group. */
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

/** Writes a Parquet file. @throws DoesNotFit when a value has more digits than its column */
export class ParquetFile implements FileWriter {
  readonly #columns: readonly FileColumn[];
  readonly #file: HashedFile;
  readonly #parquet: ParquetWriter;
  #group: (Value | null)[][];
  #rows = 0;
  #inGroup = 0;
  #text = 0;

  constructor(path: string, columns: readonly FileColumn[]) {
    this.#columns = columns;
    this.#group = columns.map(() => []);
    this.#file = new HashedFile(path);
    this.#parquet = new ParquetWriter({
      writer: new FileBytes(this.#file),
      schema: schemaOf(columns),
      createdBy: 'chain-recorder',
      ...(zstd ? { codec: 'ZSTD', compressors: { ZSTD: zstd } } : {}),
    });
  }

  add(row: readonly (Value | null)[]): void {
    for (const [place, column] of this.#columns.entries()) {
      const values = this.#group[place];
      if (!values) continue;
      const value = stored(column, row[column.at] ?? null, this.#columns);
      if (typeof value === 'string') {
        // Rows are sorted: a value is often the one before, which needs no memory of its own.
        const before = values[values.length - 1];
        const same = before === value;
        if (!same) this.#text += value.length;
        values.push(same ? before : value);
      } else values.push(value);
    }
    this.#inGroup += 1;
    if (this.#inGroup >= ROWS_IN_GROUP || this.#text >= TEXT_IN_GROUP) this.#endGroup();
  }

  #endGroup(): void {
    if (this.#inGroup === 0) return;
    const columnData = this.#columns.map(({ name }, place) => ({ name, data: this.#group[place] ?? [] }));
    void this.#parquet.write({ columnData, rowGroupSize: this.#inGroup });
    this.#rows += this.#inGroup;
    this.#group = this.#columns.map(() => []);
    this.#inGroup = 0;
    this.#text = 0;
  }

  async finish(): Promise<Written> {
    this.#endGroup();
    await this.#parquet.finish();
    return { rows: this.#rows, ...(await this.#file.finish()) };
  }

  abandon(): void {
    this.#file.abandon();
  }
}

function stored(column: FileColumn, value: Value | null, columns: readonly FileColumn[]): Value | null {
  if (value === null || column.stored !== 'decimal') return value;
  const digits = unscaled(String(value), column.scale);
  if (digits === null && !columns.some(({ exactOf }) => exactOf === column.name))
    throw new DoesNotFit(column.name);
  return digits;
}

/** As bytes hold them: DECIMAL of 38 digits needs 16. */
const DECIMAL_BYTES = 16;

function schemaOf(columns: readonly FileColumn[]): Schema {
  return [
    { name: 'row', num_children: columns.length },
    ...columns.map(({ name, nullable, stored, scale }) => ({
      name,
      repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      ...physical(stored, scale),
    })),
  ];
}

function physical(stored: FileColumn['stored'], scale: number): Omit<Schema[number], 'name'> {
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
        precision: PRECISION,
        scale,
        logical_type: { type: 'DECIMAL', precision: PRECISION, scale },
      };
    case 'text':
    case 'json':
      return { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
  }
}
