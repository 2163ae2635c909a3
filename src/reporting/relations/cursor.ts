import { z } from 'zod';

/** The end of a page: the order of the rows, and the values of its last row. */
export interface Cursor {
  readonly sort: string;
  readonly values: readonly (string | null)[];
}

const values = z.array(z.string().nullable());

/**
 * Encodes a cursor as a parameter: the order, then a JSON array, such as
 * `-bucket_start["2026-03-20T12:00:00Z","43114"]`.
 */
export const encodeCursor = ({ sort, values }: Cursor) => `${sort}${JSON.stringify(values)}`;

/** Parses a cursor. Returns null if the text is not a valid cursor. */
export function parseCursor(text: string): Cursor | null {
  const begin = text.indexOf('[');
  if (begin < 0) return null;
  try {
    const read = values.safeParse(JSON.parse(text.slice(begin)));
    return read.success ? { sort: text.slice(0, begin), values: read.data } : null;
  } catch {
    return null;
  }
}
