import { escapeSpreadsheetText } from './safe-text.ts';

/** Value of a CSV field. Objects are written as JSON, null and undefined as an empty field. */
export type CsvValue = string | number | bigint | boolean | Date | object | null | undefined;

/**
 * Formats a CSV line for people (RFC 4180), with its line end. Used by pages, the API, `query` and `report`.
 * Escapes texts that a spreadsheet would run as formulas. Escapes control characters, so that a row is one
 * line. Numbers are never changed.
 */
export function formatDisplayCsv(values: readonly CsvValue[], end = '\r\n'): string {
  return line(values, escapeSpreadsheetText, end);
}

/**
 * Formats a CSV line for programs (RFC 4180), with its line end. Used by `export`. Texts are written exactly
 * as recorded.
 */
export function formatExactCsv(values: readonly CsvValue[]): string {
  return line(values, (text) => text, '\r\n');
}

/** Formats a line. Quotes an empty text, so that the text differs from null. */
function line(values: readonly CsvValue[], safe: (text: string) => string, end: string): string {
  const field = (value: CsvValue) => {
    if (value === null || value === undefined) return '';
    const text = safe(plain(value));
    return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return values.map(field).join(',') + end;
}

function plain(value: Exclude<CsvValue, null | undefined>): string {
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
