import { literal } from '../../db/declared.ts';

/** A statement with its parameters, ready to be asked. */
export interface Asked {
  readonly text: string;
  readonly values: readonly string[];
}

/** An SQL statement under way: values become parameters, so that no value is ever part of the text. */
export class Statement {
  readonly values: string[] = [];

  /** A parameter. @param type PostgreSQL's type that the text is read as @returns SQL */
  value(text: string, type: string): string {
    this.values.push(text);
    // As text first: the driver would send a time without its microseconds.
    return `$${this.values.length}::text::${type}`;
  }
}

/** An SQL statement that people read and run themselves: values become literals. */
export class ReadableStatement extends Statement {
  override value(text: string, type: string): string {
    return type === 'text' ? literal(text) : `${literal(text)}::${type}`;
  }
}
