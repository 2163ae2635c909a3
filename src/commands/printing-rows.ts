import { once } from 'node:events';
import type { Answer } from '../db/question.ts';
import { printable, printableLines } from '../printable.ts';

/** The formats of rows; `json` is one list of objects. */
export const ROW_FORMATS = ['table', 'csv', 'json'] as const;
export type RowFormat = (typeof ROW_FORMATS)[number];

/** Where rows are printed: stdout, or another stream in a test. */
export interface Out extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  /** How many characters a line of the terminal has. */
  readonly columns?: number;
}

/** The narrowest column, in characters. When a table would need narrower ones, each value gets a line of its own. */
const NARROWEST = 6;
const BETWEEN = '  ';
const NULL = '–';

/** Prints an answer as its rows come, no faster than the reader takes them. Returns early when the reader has left. */
export async function printRows(answer: Answer, format: RowFormat, out: Out): Promise<void> {
  await printers[format](answer, pacing(out), out);
}

/** Writes some text. @returns false once the reader has left */
type Write = (text: string) => Promise<boolean>;

const printers: Readonly<Record<RowFormat, (answer: Answer, write: Write, out: Out) => Promise<void>>> = {
  async csv({ columns, rows }, write, out) {
    const shown = out.isTTY ? printableLines : (text: string) => text;
    const line = (fields: readonly (string | null)[]) => shown(`${fields.map(csvField).join(',')}\r\n`);
    if (!(await write(line(columns.map(({ name }) => name))))) return;
    for await (const block of rows('values'))
      if (!(await write(block.map((row) => line(fieldsOf(row))).join('')))) return;
  },
  async json({ rows }, write) {
    let before = '[\n';
    for await (const block of rows('object')) {
      if (!(await write(printableLines(`${before}${block.join(',\n')}`)))) return;
      before = ',\n';
    }
    await write(before === ',\n' ? '\n]\n' : '[]\n');
  },
  async table({ columns, rows }, write, out) {
    let layout: Layout | null = null;
    for await (const block of rows('values')) {
      const cells = block.map((row) => fieldsOf(row).map((text) => (text === null ? NULL : printable(text))));
      // The first block decides the layout, so that no other rows need to be held in memory.
      layout ??= layoutOf(columns, cells, out.isTTY ? (out.columns ?? 80) : null);
      const { heading, text } = layout;
      if (!(await write(heading() + cells.map(text).join('')))) return;
    }
    if (layout === null)
      await write(`${columns.map(({ name }) => printable(name)).join(BETWEEN)}\n(no rows)\n`);
  },
};

interface Layout {
  /** The line of names at the first call; an empty text after that. */
  heading(): string;
  text(cells: readonly string[]): string;
}

/** Aligned columns when they fit, or one value a line. @param width the characters of a line; null: no limit */
function layoutOf(
  columns: Answer['columns'],
  cells: readonly (readonly string[])[],
  width: number | null,
): Layout {
  const names = columns.map(({ name }) => printable(name));
  const widest = names.map((name, at) => Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const widths = width === null ? widest : fitted(widest, width - BETWEEN.length * (names.length - 1));
  if (widths === null) return listLayout(names);
  const line = (texts: readonly string[]) =>
    `${texts
      .map((text, at) => {
        const most = widths[at] ?? 0;
        const short = width !== null && text.length > most ? `${text.slice(0, most - 1)}…` : text;
        return columns[at]?.number ? short.padStart(most) : short.padEnd(most);
      })
      .join(BETWEEN)
      .trimEnd()}\n`;
  let heading = line(names);
  return {
    heading: () => {
      const once = heading;
      heading = '';
      return once;
    },
    text: line,
  };
}

/** Widths that add up to at most `room`. The widest columns are cut first. Null when a column would be too narrow. */
function fitted(widest: readonly number[], room: number): number[] | null {
  const needed = (most: number) => widest.reduce((sum, width) => sum + Math.min(width, most), 0);
  let most = Math.max(...widest);
  if (needed(NARROWEST) > room) return null;
  while (needed(most) > room) most -= 1;
  return widest.map((width) => Math.min(width, most));
}

/** Rows with one value a line, not cut, with an empty line after each row. */
function listLayout(names: readonly string[]): Layout {
  const longest = Math.max(...names.map((name) => name.length));
  return {
    heading: () => '',
    text: (cells) =>
      `${cells.map((text, at) => `${(names[at] ?? '').padEnd(longest)}${BETWEEN}${text}`).join('\n')}\n\n`,
  };
}

/** The values of a row from its JSON text. */
function fieldsOf(row: string): (string | null)[] {
  const fields: unknown = JSON.parse(row);
  if (!Array.isArray(fields)) throw new Error('a row that is no list');
  return fields.map((one: unknown) => (one === null ? null : String(one)));
}

/** A field of CSV (RFC 4180). An empty text is quoted, so that it differs from null. */
function csvField(text: string | null): string {
  if (text === null) return '';
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Makes a function that writes and waits until the reader can take more. */
function pacing(out: Out): Write {
  const gone = new AbortController();
  out.once('close', () => gone.abort());
  out.once('error', () => gone.abort());
  return async (text) => {
    if (gone.signal.aborted) return false;
    if (out.write(text)) return true;
    await once(out, 'drain', { signal: gone.signal }).catch(() => {});
    return !gone.signal.aborted;
  };
}
