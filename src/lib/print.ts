import wrapAnsi from 'wrap-ansi';
import { formatDisplayCsv } from './csv.ts';
import { formatTime, getTerminalWidth, type OutputStream } from './output-stream.ts';
import { escapeUnsafeLines, escapeUnsafeText } from './safe-text.ts';
import { createTableLayout, type LayoutColumn } from './table-layout.ts';

/** Prints a result for programs as one JSON document on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${escapeUnsafeLines(JSON.stringify(value, null, 2))}\n`);
}

/**
 * Prints rows for people as aligned columns with a heading. Prints `empty` if there are no rows. On a
 * terminal, the table fits the width and times are local.
 */
export function printTable(
  rows: readonly Readonly<Record<string, unknown>>[],
  empty: string,
  out: OutputStream = process.stdout,
): void {
  const [first] = rows;
  if (!first) {
    out.write(`${empty}\n`);
    return;
  }
  const columns = Object.keys(first).map(
    (name): LayoutColumn => ({ name: escapeUnsafeText(name), kind: kindOf(rows.map((row) => row[name])) }),
  );
  const cells = rows.map((row) => Object.keys(first).map((name) => cell(row[name], out)));
  const layout = createTableLayout(columns, cells, getTerminalWidth(out), 'wrap');
  out.write(layout.heading() + cells.map(layout.text).join(''));
}

/** Pattern of texts that count as numbers: exact numbers, and shares with their unit. */
const NUMBER = /^[+-]?\d[\d,]*(\.\d+)?( ?%)?$/;

function kindOf(values: readonly unknown[]): LayoutColumn['kind'] {
  const nonNull = values.filter((value) => value !== null && value !== undefined);
  if (nonNull.length === 0) return 'text';
  if (nonNull.every((value) => value instanceof Date)) return 'time';
  const number = (value: unknown) =>
    ['number', 'bigint'].includes(typeof value) || (typeof value === 'string' && NUMBER.test(value));
  return nonNull.every(number) ? 'number' : 'text';
}

/** Prints text of several lines on stdout. Escapes control characters on a terminal. */
export function printText(text: string): void {
  process.stdout.write(process.stdout.isTTY ? escapeUnsafeLines(text) : text);
}

/** Prints a sentence for people. On a terminal, the sentence is wrapped between words. */
export function printLine(line: string, out: OutputStream = process.stdout): void {
  const width = getTerminalWidth(out);
  const text = escapeUnsafeText(line);
  out.write(`${width === null ? text : wrapAnsi(text, width, { hard: true })}\n`);
}

/** Prints a notice for people on stderr, beside the result. */
export function printNotice(line: string): void {
  printLine(line, process.stderr);
}

/**
 * Prints rows for spreadsheets (RFC 4180) with a heading. Without rows, the heading is printed only if
 * `names` are passed.
 */
export function printCsv(rows: readonly object[], names = Object.keys(rows[0] ?? {})): void {
  if (names.length === 0) return;
  const end = process.stdout.isTTY ? '\n' : '\r\n';
  printText(
    [names, ...rows.map((row) => Object.values(row))].map((line) => formatDisplayCsv(line, end)).join(''),
  );
}

/** Formats a table cell: one line, with control characters escaped. */
const cell = (value: unknown, out: OutputStream): string =>
  escapeUnsafeText(value instanceof Date ? formatTime(value, out) : plain(value));

function plain(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
