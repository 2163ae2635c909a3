import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { TextRow } from '../db/copy-text.ts';
import { parseRfc3339Microseconds } from '../lib/instant.ts';
import { type ColumnValue, DECIMAL_PRECISION, DECIMAL_SCALE, type FileColumn } from './file-columns.ts';
import { ParquetFile } from './parquet-file.ts';

/** Column of a query result. */
interface AnswerColumn {
  readonly name: string;
  /** OID of the type in pg_type. */
  readonly type: number;
}

/**
 * Writes a query result as a Parquet file. Booleans, integers, doubles and instants keep their types.
 * `numeric` becomes a DECIMAL as in exports, and all other types become text. A column with a value that does
 * not fit becomes text, so that no digit is lost. The types are known only at the end, so rows are buffered
 * in a second file.
 * @param folder local folder for both files
 * @returns the path of the Parquet file
 */
export async function writeParquetResult(
  folder: string,
  columns: readonly AnswerColumn[],
  blocks: AsyncIterable<readonly TextRow[]>,
): Promise<string> {
  const path = join(folder, 'answer.parquet');
  const waiting = await RowBuffer.open(join(folder, 'rows'));
  try {
    const scanners = columns.map((column) => new ColumnScanner(column));
    for await (const block of blocks) {
      for (const row of block)
        scanners.forEach((column, at) => {
          column.see(row[at] ?? null);
        });
      await waiting.add(block);
    }
    const forms = scanners.map((column) => column.form());
    const stored = scanners.map((column, at) => column.stored(at));
    const file = new ParquetFile(path, stored);
    try {
      for await (const block of waiting.blocks())
        for (const row of block)
          file.add(
            forms.map(({ value }, at) => {
              const text = row[at] ?? null;
              return text === null ? null : value(text);
            }),
          );
      await file.finish();
    } finally {
      file.abandon();
    }
  } finally {
    await waiting.close();
  }
  return path;
}

/** Storage of the texts of a PostgreSQL type. */
interface ColumnStorage {
  readonly stored: FileColumn['stored'];
  /** Matches the texts that can be stored in this type. */
  readonly fits: RegExp;
  readonly value: (text: string) => ColumnValue;
}

const TEXT: ColumnStorage = { stored: 'text', fits: /^/, value: (text) => text };
const WHOLE: ColumnStorage = { stored: 'bigint', fits: /^-?\d+$/, value: BigInt };
const DOUBLE: ColumnStorage = { stored: 'double', fits: /^/, value: Number };
/**
 * Storage by type OID: bool, int8, int2, int4, float4, float8, timestamptz and numeric. These OIDs never
 * change.
 */
const STORAGE_BY_TYPE: ReadonlyMap<number, ColumnStorage> = new Map([
  [16, { stored: 'boolean', fits: /^(true|false)$/, value: (text) => text === 'true' }],
  [20, WHOLE],
  [21, WHOLE],
  [23, WHOLE],
  [700, DOUBLE],
  [701, DOUBLE],
  // Excludes infinity and years of more than four digits.
  [1184, { stored: 'instant', fits: /^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/, value: instantOf }],
  [1700, { ...TEXT, stored: 'decimal', fits: /^-?\d+(\.\d+)?$/ }],
]);

/**
 * Parses microseconds since 1970.
 * @throws RangeError if the text is not an instant
 */
function instantOf(text: string): bigint {
  const micros = parseRfc3339Microseconds(text);
  if (micros === null) throw new RangeError(`${text} is not a valid time`);
  return micros;
}

/** Scanner of the values of a column that determines its storage. */
class ColumnScanner {
  readonly #name: string;
  readonly #form: ColumnStorage;
  #fits = true;
  /** Maximum number of digits before the decimal point. */
  #whole = 0;
  /** Maximum number of digits after the decimal point. */
  #decimals = 0;

  constructor({ name, type }: AnswerColumn) {
    this.#name = name;
    this.#form = STORAGE_BY_TYPE.get(type) ?? TEXT;
  }

  see(text: string | null): void {
    if (text === null || !this.#fits) return;
    this.#fits = this.#form.fits.test(text);
    if (this.#form.stored !== 'decimal') return;
    const [whole = '', decimals = ''] = text.replace('-', '').split('.');
    this.#whole = Math.max(this.#whole, whole.length);
    this.#decimals = Math.max(this.#decimals, decimals.length);
  }

  form(): ColumnStorage {
    const tooLong = this.#decimals > DECIMAL_SCALE || this.#whole + this.#scale() > DECIMAL_PRECISION;
    return this.#fits && !(this.#form.stored === 'decimal' && tooLong) ? this.#form : TEXT;
  }

  /** @param at index in a row */
  stored(at: number): FileColumn {
    const { stored } = this.form();
    return { name: this.#name, type: '', stored, scale: this.#scale(), nullable: true, at };
  }

  #scale(): number {
    return this.#decimals === 0 ? 0 : DECIMAL_SCALE;
  }
}

/** Buffer of rows in a file. */
class RowBuffer {
  readonly #file: FileHandle;
  readonly #blocks: { readonly at: number; readonly bytes: number }[] = [];
  #end = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @param path must not exist yet */
  static async open(path: string): Promise<RowBuffer> {
    return new RowBuffer(await open(path, 'wx+'));
  }

  async add(rows: readonly TextRow[]): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(rows));
    await this.#file.appendFile(bytes);
    this.#blocks.push({ at: this.#end, bytes: bytes.length });
    this.#end += bytes.length;
  }

  async *blocks(): AsyncGenerator<readonly TextRow[]> {
    for (const { at, bytes } of this.#blocks) {
      const buffer = Buffer.alloc(bytes);
      await this.#file.read(buffer, 0, bytes, at);
      yield z.array(z.array(z.string().nullable())).parse(JSON.parse(buffer.toString()));
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
