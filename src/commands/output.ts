import { printable, printableLines } from '../printable.ts';

/** A result for programs: one JSON document on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printableLines(JSON.stringify(value, null, 2))}\n`);
}

/** Rows for people: aligned columns with a heading, on stdout; `empty` where there are none. */
export function printTable(rows: readonly Readonly<Record<string, unknown>>[], empty: string): void {
  const [first] = rows;
  if (!first) {
    process.stdout.write(`${empty}\n`);
    return;
  }
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const widths = names.map((name, at) =>
    Math.max(name.length, ...cells.map((line) => line[at]?.length ?? 0)),
  );
  const numeric = names.map((name) => rows.every((row) => ['number', 'bigint'].includes(typeof row[name])));
  for (const line of [names, ...cells])
    process.stdout.write(
      `${line
        .map((text, at) => (numeric[at] ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)))
        .join('  ')
        .trimEnd()}\n`,
    );
}

/** Text of several lines, on stdout. On a terminal control characters are escaped. */
export function printText(text: string): void {
  process.stdout.write(process.stdout.isTTY ? printableLines(text) : text);
}

/** A line for people beside the result, on stderr. */
export function tell(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** Rows for spreadsheets: RFC 4180, with a heading. */
export function printCsv(rows: readonly object[]): void {
  const [first] = rows;
  if (!first) return;
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row).map(field))];
  printText(lines.map((line) => `${line.join(',')}\r\n`).join(''));
}

function field(value: unknown): string {
  const text = value === null || value === undefined ? '' : plain(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A value in a table: one line, with control characters escaped. */
const cell = (value: unknown): string => printable(plain(value));

function plain(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
