import { z } from 'zod';
import { parseExactInstant } from '../../lib/instant.ts';

/** The end of a page: the order of the rows, and the values of its last row. */
export interface Cursor {
  readonly sort: string;
  readonly values: readonly (string | null)[];
  /**
   * The moment of the record of all pages of a function without a key. Absent: pages are read as of now.
   */
  readonly asOf?: string | undefined;
}

const values = z.array(z.string().nullable());

/**
 * Encodes a cursor as a parameter: the order, the moment if there is one, then a JSON array, such as
 * `-bucket_start["2026-03-20T12:00:00Z","43114"]` or `rank@2026-03-20T12:00:00Z["1","43114"]`.
 */
export const encodeCursor = ({ sort, values, asOf }: Cursor) =>
  `${sort}${asOf === undefined ? '' : `@${asOf}`}${JSON.stringify(values)}`;

/** Parses a cursor. Returns null if the text is not a valid cursor. */
export function parseCursor(text: string): Cursor | null {
  const begin = text.indexOf('[');
  if (begin < 0) return null;
  const [sort = '', moment] = text.slice(0, begin).split('@');
  const asOf = moment === undefined ? undefined : parseExactInstant(moment);
  if (asOf === null) return null;
  try {
    const read = values.safeParse(JSON.parse(text.slice(begin)));
    return read.success ? { sort, values: read.data, asOf } : null;
  } catch {
    return null;
  }
}
