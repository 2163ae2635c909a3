import zlib from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { CopyRow } from '../db/copy-binary.ts';
import { type FileColumn, PRECISION } from './file-columns.ts';
import type { FileWriter, Written } from './file-writer.ts';
import { HashedFile } from './hashed-file.ts';
import { type Codec, writeChunk } from './parquet-chunk.ts';
import { ParquetColumn } from './parquet-column.ts';
import { DECIMAL_BYTES } from './parquet-values.ts';

/** Rows of a row group: what engines read at once, and what stands in memory. */
const ROWS_IN_GROUP = 100_000;
/** A row group is shorter where its distinct values are long. */
const BYTES_IN_GROUP = 16_000_000;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];
type Compress = Codec['compress'];

/** Node.js 22.15 and newer have zstd, which the types of Node.js 20 do not know; before, files are compressed by snappy. */
const { zstdCompressSync: zstd }: { gzipSync: unknown; zstdCompressSync?: Compress } = zlib;
/** Undefined: there is none for this system. The one of the library writes the same format, and takes longer. */
const nativeSnappy = zstd
  ? undefined
  : await import('snappy').then(
      ({ compressSync }): Compress => compressSync,
      () => undefined,
    );

/** Bytes that go to the file after every column of a row group. */
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

/** Writes a Parquet file. Of the library are the file's frame and what it says of itself; the columns are written by {@link writeChunk}. */
export class ParquetFile implements FileWriter {
  readonly #columns: readonly { readonly column: FileColumn; readonly values: ParquetColumn }[];
  readonly #schema: Schema;
  readonly #file: HashedFile;
  readonly #bytes: FileBytes;
  readonly #parquet: ParquetWriter;
  readonly #codec: Codec;
  #inGroup = 0;

  constructor(path: string, columns: readonly FileColumn[]) {
    const exact = new Set(columns.map(({ exactOf }) => exactOf));
    this.#columns = columns.map((column) => ({
      column,
      values: new ParquetColumn(column, exact.has(column.name)),
    }));
    this.#schema = schemaOf(columns);
    this.#file = new HashedFile(path);
    this.#bytes = new FileBytes(this.#file);
    this.#parquet = new ParquetWriter({
      writer: this.#bytes,
      schema: this.#schema,
      createdBy: 'chain-recorder',
    });
    this.#codec = zstd
      ? { name: 'ZSTD', compress: zstd }
      : { name: 'SNAPPY', compress: nativeSnappy ?? this.#parquet.compressors.SNAPPY };
  }

  add({ bytes, starts, ends }: CopyRow): void {
    let size = 0;
    for (const { column, values } of this.#columns) {
      const { at, always } = column;
      const end = ends[at] ?? -1;
      if (always) values.add(always, 0, always.length);
      else if (end < 0) values.addNull();
      else values.add(bytes, starts[at] ?? 0, end);
      size += values.size;
    }
    this.#inGroup += 1;
    if (this.#inGroup >= ROWS_IN_GROUP || size >= BYTES_IN_GROUP) this.#endGroup();
  }

  #endGroup(): void {
    if (this.#inGroup === 0) return;
    const begin = this.#bytes.offset;
    const columns = this.#columns.map(({ values }, place) => {
      const element = this.#schema[place + 1];
      if (!element) throw new Error('a column is not in the schema');
      const written = writeChunk(this.#bytes, element, values.stored(), this.#codec);
      values.clear();
      this.#bytes.flush();
      this.#parquet.pendingIndexes.push(written);
      return written.chunk;
    });
    const uncompressed = columns.reduce(
      (sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n),
      0n,
    );
    this.#parquet.row_groups.push({
      columns,
      total_byte_size: uncompressed,
      num_rows: BigInt(this.#inGroup),
      total_compressed_size: BigInt(this.#bytes.offset - begin),
    });
    this.#parquet.num_rows += BigInt(this.#inGroup);
    this.#inGroup = 0;
  }

  async finish(): Promise<Written> {
    this.#endGroup();
    await this.#parquet.finish();
    return { rows: Number(this.#parquet.num_rows), ...(await this.#file.finish()) };
  }

  abandon(): void {
    this.#file.abandon();
  }
}

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
