import type { FoundLine } from '../../../reporting/relations/lines.ts';

/** What was found of a thing as known at a moment. */
export interface Known {
  readonly line: FoundLine;
  /** As PostgreSQL reads it; null: now. */
  readonly moment: string | null;
}

/** What a line is of, as a text. */
export const thingOf = ({ line }: Known): string => JSON.stringify(line.of);
