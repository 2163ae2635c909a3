import type { CopyRow } from '../db/copy-binary.ts';

/** A finished file. */
export interface Written {
  readonly rows: number;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Writes rows to one local file. */
export interface FileWriter {
  /** @throws DoesNotFit, and Error where a row lacks what every row has */
  add(row: CopyRow): void;
  /** Writes what is left, and waits until the disk has it. @throws DoesNotFit */
  finish(): Promise<Written>;
  /** Closes the file as it is, if it is open. */
  abandon(): void;
}

/** A value that fits no DECIMAL: the table is written again with a column of texts beside. */
export class DoesNotFit extends Error {
  readonly column: string;

  constructor(column: string) {
    super(`a value of ${column} has more digits than a DECIMAL`);
    this.column = column;
  }
}
