import type { ChartLine } from '../../../reporting/relations/lines.ts';

/** A line as known at a moment. */
export interface LineAtMoment {
  readonly line: ChartLine;
  /** In a format that PostgreSQL parses; null for now. */
  readonly moment: string | null;
}

/** Returns the key of a line as a text. */
export const thingOf = ({ line }: LineAtMoment): string => JSON.stringify(line.of);
