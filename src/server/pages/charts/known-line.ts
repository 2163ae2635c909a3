import type { FoundLine } from '../../../reporting/relations/lines.ts';

/** A line as known at a moment. */
export interface Known {
  readonly line: FoundLine;
  /** In a format that PostgreSQL parses; null for now. */
  readonly moment: string | null;
}

/** Returns the key of a line as a text. */
export const thingOf = ({ line }: Known): string => JSON.stringify(line.of);
