import type { ColumnValue } from './file-columns.ts';

/** Size and hash of a finished file. */
export interface WrittenFile {
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 in hexadecimal. */
  readonly sha256: string;
}

/** Writer of rows to one local file. */
export interface FileWriter {
  /**
   * Adds a row: its values in the order of the columns.
   * @throws DecimalOverflowError; Error if a required value is missing
   */
  add(row: readonly (ColumnValue | null)[]): void;
  /**
   * Writes the remaining rows, and waits until they are on disk (fsync).
   * @throws DecimalOverflowError
   */
  finish(): Promise<WrittenFile>;
  /** Closes an open file without finishing it. */
  abandon(): void;
}

/**
 * Error of a value that does not fit DECIMAL. The table is then written again with an additional text column.
 */
export class DecimalOverflowError extends Error {
  readonly column: string;

  constructor(column: string) {
    super(`a value of ${column} has more digits than a DECIMAL`);
    this.column = column;
  }
}
