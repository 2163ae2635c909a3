import { literal } from '../../db/declared.ts';

/** An SQL statement and its parameters. */
export interface ParameterizedStatement {
  readonly text: string;
  readonly values: readonly string[];
}

/** Builds an SQL statement. Values become parameters, never part of the text. */
export class StatementBuilder {
  readonly values: string[] = [];

  /** Adds a parameter. @param type the PostgreSQL type of the value @returns SQL of the placeholder */
  value(text: string, type: string): string {
    this.values.push(text);
    // Cast from text, because the driver would truncate the microseconds of a time.
    return `$${this.values.length}::text::${type}`;
  }
}

/** Builds an SQL statement for people to read and run. Values become literals. */
export class LiteralStatementBuilder extends StatementBuilder {
  override value(text: string, type: string): string {
    return type === 'text' ? literal(text) : `${literal(text)}::${type}`;
  }
}
