import { formatExactCsv } from '../lib/csv.ts';
import { isInexact, quoteInexactNumbers } from '../upstreams/json.ts';
import type { ColumnValue, FileColumn } from './file-columns.ts';
import type { FileWriter, WrittenFile } from './file-writer.ts';
import { HashedFile } from './hashed-file.ts';

/** Buffer size, in UTF-16 code units. */
const BUFFER_CHARACTERS = 1 << 20;

type ColumnValues = readonly (ColumnValue | null)[];

/** Writer of lines of text. */
class TextFile implements FileWriter {
  readonly #file: HashedFile;
  readonly #line: (row: ColumnValues) => string;
  #waiting: string[] = [];
  #length = 0;
  #rows = 0;

  constructor(path: string, heading: string, line: (row: ColumnValues) => string) {
    this.#file = new HashedFile(path);
    this.#line = line;
    this.#waiting.push(heading);
  }

  add(row: ColumnValues): void {
    const line = this.#line(row);
    this.#waiting.push(line);
    this.#length += line.length;
    this.#rows += 1;
    if (this.#length >= BUFFER_CHARACTERS) this.#flush();
  }

  #flush(): void {
    this.#file.write(Buffer.from(this.#waiting.join('')));
    this.#waiting = [];
    this.#length = 0;
  }

  async finish(): Promise<WrittenFile> {
    this.#flush();
    return { rows: this.#rows, ...(await this.#file.finish()) };
  }

  abandon(): void {
    this.#file.abandon();
  }
}

/**
 * Creates a writer of CSV for programs, with a heading. Null is an empty field, an empty text is `""`, as in
 * PostgreSQL's COPY.
 */
export function createCsvWriter(path: string, columns: readonly FileColumn[]): FileWriter {
  const heading = formatExactCsv(columns.map(({ name }) => name));
  return new TextFile(path, heading, (row) =>
    formatExactCsv(columns.map((column, at) => field(column, row[at] ?? null))),
  );
}

const field = (column: FileColumn, value: ColumnValue | null) =>
  value !== null && column.stored === 'instant' ? formatInstant(value) : value;

/**
 * Creates a writer of JSON Lines. Numbers that a double cannot represent exactly are texts, also within JSON.
 */
export function createJsonLinesWriter(path: string, columns: readonly FileColumn[]): FileWriter {
  const names = columns.map(({ name }) => JSON.stringify(name));
  return new TextFile(path, '', (row) => {
    const members = columns.map((column, at) => `${names[at]}:${member(column, row[at] ?? null)}`);
    return `{${members.join(',')}}\n`;
  });
}

function member(column: FileColumn, value: ColumnValue | null): string {
  if (value === null) return 'null';
  switch (column.stored) {
    case 'json':
      return quoteInexactNumbers(String(value));
    case 'boolean':
    case 'double':
      return String(value);
    case 'instant':
      return JSON.stringify(formatInstant(value));
    case 'bigint':
      return isInexact(String(value)) ? JSON.stringify(String(value)) : String(value);
    case 'text':
    case 'decimal':
      return JSON.stringify(String(value));
  }
}

/** Formats microseconds since 1970 as ISO 8601. */
export function formatInstant(value: ColumnValue): string {
  const micros = BigInt(value);
  const part = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  // Removes the sign and the zeros of years with more than four digits.
  const [seconds = ''] = new Date(Number((micros - part) / 1000n))
    .toISOString()
    .replace(/^\+0*/, '')
    .split('.');
  return `${seconds}.${String(part).padStart(6, '0')}Z`;
}
