import type { Value } from './values.ts';

/** What spreadsheets take for the begin of a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A line of CSV (RFC 4180), with its end. Null is an empty field, an empty text is a quoted one; lists and objects are JSON. A text
 * that a spreadsheet would run as a formula gets an apostrophe before it: token names and the like are written by strangers.
 * Numbers are never changed.
 * @param text which of the values are texts, and no numbers or times
 */
export function csvLine(values: readonly Value[], text: readonly boolean[]): string {
  return `${values.map((value, at) => field(value, text[at] ?? true)).join(',')}\r\n`;
}

function field(value: Value, isText: boolean): string {
  if (value === null) return '';
  const written = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const harmless = isText && FORMULA.test(written) ? `'${written}` : written;
  return harmless === '' || /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
