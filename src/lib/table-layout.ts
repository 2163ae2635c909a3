import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { truncateText } from './truncate-text.ts';

/** Column of a printed table. Numbers are right-aligned. Numbers and times are never shortened. */
export interface LayoutColumn {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'time';
}

/** Formatter that turns rows into lines. */
export interface TableLayout {
  /** Returns the lines of the column names at the first call, and an empty text at later calls. */
  heading(): string;
  /** Returns the lines of a row. */
  text(cells: readonly string[]): string;
}

/**
 * Handling of a text that is wider than its column. `wrap` continues the text on the next line, `shorten`
 * ends the text with ….
 */
export type Overflow = 'wrap' | 'shorten';

const COLUMN_GAP = '  ';
/** Minimum width of a column whose texts are wider, in characters. */
const MIN_COLUMN_WIDTH = 8;
/** Maximum width of a word that is kept whole if the columns fit, in characters. */
const MAX_UNBROKEN_WIDTH = 28;

/**
 * Creates a layout of aligned columns. If the columns do not fit, each value has a separate line, after the
 * name of its column.
 * @param cells rows that determine the widths of the columns, also for later rows
 * @param width number of characters in a line; null for no limit, so that nothing is wrapped or shortened
 */
export function createTableLayout(
  columns: readonly LayoutColumn[],
  cells: readonly (readonly string[])[],
  width: number | null,
  overflow: Overflow,
): TableLayout {
  const room = width === null ? Number.POSITIVE_INFINITY : width - COLUMN_GAP.length * (columns.length - 1);
  const sizes = (narrowest: (texts: readonly string[]) => number) =>
    columns.map(({ name, kind }, at) => {
      const texts = cells.map((row) => row[at] ?? '');
      const widest = widestOf(texts);
      const least = kind === 'text' ? Math.min(widest, narrowest(texts)) : widest;
      const partOfName = Math.max(...partsOf(name).map(displayWidth));
      return { most: Math.max(widest, displayWidth(name)), least: Math.max(least, partOfName) };
    });
  const whole = overflow === 'wrap' ? fitWidths(sizes(longestWord), room) : null;
  const widths =
    whole ??
    fitWidths(
      sizes(() => MIN_COLUMN_WIDTH),
      room,
    );
  if (widths === null) return listLayout(columns, width);
  const line = (texts: readonly string[]) =>
    `${texts
      .map((text, at) => aligned(text, widths[at] ?? 0, columns[at]?.kind))
      .join(COLUMN_GAP)
      .trimEnd()}\n`;
  const fitCell = (text: string, at: number): string[] => {
    const most = widths[at] ?? 0;
    if (width === null || columns[at]?.kind !== 'text' || displayWidth(text) <= most) return [text];
    return overflow === 'shorten' ? [truncateText(text, most)] : wrapped(text, most);
  };
  let heading = block(
    columns.map(({ name }, at) => nameLines(name, widths[at] ?? 0)),
    line,
    'bottom',
  );
  return {
    heading: () => {
      const once = heading;
      heading = '';
      return once;
    },
    text: (row) => block(row.map(fitCell), line, 'top'),
  };
}

/**
 * Puts cells of several lines side by side.
 * @param edge vertical alignment of the shorter cells
 */
function block(
  cells: readonly (readonly string[])[],
  line: (texts: readonly string[]) => string,
  edge: 'top' | 'bottom',
): string {
  const height = Math.max(1, ...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    line(cells.map((lines) => lines[edge === 'top' ? row : row - height + lines.length] ?? '')),
  ).join('');
}

function aligned(text: string, width: number, kind: LayoutColumn['kind'] = 'text'): string {
  const rest = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return kind === 'number' ? rest + text : text + rest;
}

/** Returns the width of the longest word, up to a maximum. So names stay whole, and hashes may be broken. */
const longestWord = (texts: readonly string[]) =>
  Math.min(MAX_UNBROKEN_WIDTH, widestOf(texts.flatMap((text) => text.split(' '))));

/** Returns the maximum width of texts. `Math.max` is not used, because its number of arguments is limited. */
const widestOf = (texts: readonly string[]) =>
  texts.reduce((widest, text) => Math.max(widest, displayWidth(text)), 0);

/**
 * Returns widths that add up to at most `room`. The widest columns are reduced first. Returns null if even the
 * minimum widths do not fit.
 */
function fitWidths(sizes: readonly { most: number; least: number }[], room: number): number[] | null {
  const widths = (cap: number) => sizes.map(({ most, least }) => Math.max(least, Math.min(most, cap)));
  const needed = (cap: number) => widths(cap).reduce((sum, width) => sum + width, 0);
  if (needed(0) > room) return null;
  if (needed(Number.POSITIVE_INFINITY) <= room) return widths(Number.POSITIVE_INFINITY);
  let cap = Math.max(...sizes.map(({ most }) => most));
  while (needed(cap) > room) cap -= 1;
  return widths(cap);
}

/**
 * Creates a layout with one value on each line and an empty line after each row. Wrapped lines are aligned.
 */
function listLayout(columns: readonly LayoutColumn[], width: number | null): TableLayout {
  const longest = Math.max(...columns.map(({ name }) => displayWidth(name)));
  const room = width === null ? null : Math.max(MIN_COLUMN_WIDTH, width - longest - COLUMN_GAP.length);
  return {
    heading: () => '',
    text: (row) =>
      `${row
        .flatMap((text, at) =>
          (room === null ? [text] : wrapped(text, room)).map(
            (part, line) =>
              `${aligned(line === 0 ? (columns[at]?.name ?? '') : '', longest)}${COLUMN_GAP}${part}`,
          ),
        )
        .join('\n')}\n\n`,
  };
}

/** Splits a name over several lines, after underscores, slashes and spaces. */
function nameLines(name: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of partsOf(name)) {
    const last = lines.at(-1);
    if (last !== undefined && displayWidth(last + part) <= width) lines[lines.length - 1] = last + part;
    else lines.push(part);
  }
  return lines;
}

const partsOf = (name: string) => name.match(/[^_/ ]*[_/ ]?/g)?.filter((part) => part !== '') ?? [];

const wrapped = (text: string, width: number) =>
  wrapAnsi(text, width, { hard: true, trim: true }).split('\n');

const ASCII = /^[\x20-\x7e]*$/;
/** Returns the number of terminal columns that a text occupies. */
const displayWidth = (text: string) => (ASCII.test(text) ? text.length : stringWidth(text));
