import { open } from 'node:fs/promises';
import zlib from 'node:zlib';
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead } from 'hyparquet';
import type { TextRow } from '../db/copy-text.ts';
import { formatInstant } from './text-writer.ts';

type Decompress = (bytes: Uint8Array) => Uint8Array;

/** Decompression with zstd, which Node.js 22.15 and newer have; the types of Node.js 20 do not declare it. */
const { zstdDecompressSync: zstd }: { gzipSync: unknown; zstdDecompressSync?: Decompress } = zlib;

/** Decoder that keeps a leading U+FEFF. By default, a decoder drops U+FEFF as a byte order mark. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/** Reader of a Parquet file from an export. */
export interface ParquetRows {
  readonly columns: readonly string[];
  readonly rows: number;
  /** Yields the rows in their order, one row group at a time. */
  groups(): AsyncIterable<readonly TextRow[]>;
  close(): Promise<void>;
}

/**
 * Opens a Parquet file of an export. Values keep every digit.
 * @throws Error if the file is not Parquet, or this Node.js cannot decompress it
 */
export async function openParquet(path: string): Promise<ParquetRows> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const file: AsyncBuffer = {
      byteLength: size,
      slice: async (start, end = size) => {
        const bytes = new Uint8Array(end - start);
        await handle.read(bytes, 0, bytes.length, start);
        return bytes.buffer;
      },
    };
    const metadata = await parquetMetadataAsync(file);
    const [, ...elements] = metadata.schema;
    const columns = elements.map(({ name, converted_type: converted, scale = 0 }) => ({
      name,
      text: textOf(converted, scale),
    }));
    const plain = unconverted(metadata);
    return {
      columns: columns.map(({ name }) => name),
      rows: Number(metadata.num_rows),
      groups: async function* () {
        let at = 0;
        for (const group of metadata.row_groups) {
          const rowEnd = at + Number(group.num_rows);
          let read: unknown[][] = [];
          await parquetRead({
            file,
            metadata: plain,
            rowStart: at,
            rowEnd,
            parsers: { stringFromBytes: (bytes) => bytes && decoder.decode(bytes) },
            compressors: { ZSTD: zstd ?? noZstd },
            onComplete: (rows: unknown[][]) => {
              read = rows;
            },
          });
          yield read.map((row) => columns.map(({ text }, place) => text(row[place])));
          at = rowEnd;
        }
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function noZstd(): never {
  throw new Error('the file is compressed with zstd: use Node.js 22.15 or newer');
}

/**
 * Removes logical types from the schema. With these types, the reader would convert decimals to doubles and
 * instants to milliseconds. Without them, the reader returns the stored values.
 */
function unconverted(metadata: FileMetaData): FileMetaData {
  return {
    ...metadata,
    schema: metadata.schema.map(({ converted_type, logical_type, ...element }) =>
      converted_type === 'UTF8' ? { ...element, converted_type } : element,
    ),
  };
}

function textOf(converted: string | undefined, scale: number): (value: unknown) => string | null {
  return (value) => {
    if (value === null || value === undefined) return null;
    if (converted === 'DECIMAL' && value instanceof Uint8Array) return decimal(value, scale);
    if (converted === 'TIMESTAMP_MICROS' && typeof value === 'bigint') return formatInstant(value);
    return String(value);
  };
}

/**
 * Formats a decimal number.
 * @param bytes a big-endian integer
 */
function decimal(bytes: Uint8Array, scale: number): string {
  let value = 0n;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += 8) value = (value << 64n) | view.getBigUint64(at);
  value = BigInt.asIntN(bytes.length * 8, value);
  if (scale === 0) return String(value);
  const sign = value < 0n ? '-' : '';
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const decimals = digits.slice(-scale).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -scale)}${decimals === '' ? '' : `.${decimals}`}`;
}
