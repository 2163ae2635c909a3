import { once } from 'node:events';
import type { ReaderQueryResult } from '../../db/query-as-reader.ts';
import { formatDisplayCsv } from '../../lib/csv.ts';
import { formatLocalTime } from '../../lib/local-time.ts';
import { getTerminalWidth, type OutputStream } from '../../lib/output-stream.ts';
import { parseFields } from '../../lib/parse-fields.ts';
import { escapeUnsafeLines, escapeUnsafeText } from '../../lib/safe-text.ts';
import { createTableLayout, type LayoutColumn, type TableLayout } from '../../lib/table-layout.ts';
import { exactRow } from '../../reporting/relations/values.ts';

/** Formats of rows; `json` is one list of objects. */
export const ROW_FORMATS = ['table', 'csv', 'json'] as const;
export type RowFormat = (typeof ROW_FORMATS)[number];

const NULL = '–';

/**
 * Prints a query result while its rows arrive, no faster than the reader consumes them. Returns early if the
 * reader closes the output.
 */
export async function printRows(
  answer: ReaderQueryResult,
  format: RowFormat,
  out: OutputStream,
): Promise<void> {
  await printers[format](answer, createPacedWriter(out), out);
}

/**
 * A function that writes text or bytes.
 * @returns false once the reader has closed the output
 */
export type WriteOutput = (text: string | Uint8Array) => Promise<boolean>;

const printers: Readonly<
  Record<RowFormat, (answer: ReaderQueryResult, write: WriteOutput, out: OutputStream) => Promise<void>>
> = {
  async csv({ columns, rows }, write, out) {
    const line = (fields: readonly (string | null)[]) => formatDisplayCsv(fields, out.isTTY ? '\n' : '\r\n');
    if (!(await write(line(columns.map(({ name }) => name))))) return;
    for await (const block of rows('values'))
      if (!(await write(block.map((row) => line(parseFields(row))).join('')))) return;
  },
  async json({ columns, rows }, write) {
    let before = '[\n';
    for await (const block of rows('object')) {
      const lines = block.map((row) => exactRow(row, columns)).join(',\n');
      if (!(await write(escapeUnsafeLines(before + lines)))) return;
      before = ',\n';
    }
    await write(before === ',\n' ? '\n]\n' : '[]\n');
  },
  async table({ columns, rows }, write, out) {
    const named = columns.map(({ name, kind }): LayoutColumn => ({ name: escapeUnsafeText(name), kind }));
    const text = (field: string | null, at: number) => {
      if (field === null) return NULL;
      return out.isTTY && named[at]?.kind === 'time' ? localText(field) : escapeUnsafeText(field);
    };
    let layout: TableLayout | null = null;
    for await (const block of rows('values')) {
      const cells = block.map((row) => parseFields(row).map(text));
      // The first block determines the layout, so that further rows need not be buffered.
      layout ??= createTableLayout(named, cells, getTerminalWidth(out), 'shorten');
      if (!(await write(layout.heading() + cells.map(layout.text).join('')))) return;
    }
    if (layout === null) await write(`${named.map(({ name }) => name).join('  ')}\n(no rows)\n`);
  },
};

const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d+)?\+00:00$/;

/**
 * Formats an instant of PostgreSQL's JSON in local time. Returns values beyond the calendar, such as
 * `infinity`, unchanged.
 */
function localText(text: string): string {
  const [, seconds, fraction] = INSTANT.exec(text) ?? [];
  return seconds === undefined ? escapeUnsafeText(text) : formatLocalTime(new Date(`${seconds}Z`), fraction);
}

/**
 * Creates a function that writes with backpressure: each write waits until the reader can accept more output.
 */
export function createPacedWriter(out: OutputStream): WriteOutput {
  const closed = new AbortController();
  out.once('close', () => closed.abort());
  out.once('error', () => closed.abort());
  return async (text) => {
    if (closed.signal.aborted) return false;
    if (out.write(text)) return true;
    await once(out, 'drain', { signal: closed.signal }).catch(() => {});
    return !closed.signal.aborted;
  };
}
