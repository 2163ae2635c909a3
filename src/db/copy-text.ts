import type { Readable } from 'node:stream';

/** Values of a row as PostgreSQL's texts; null for SQL NULL. */
export type TextRow = readonly (string | null)[];

/** The characters that the text format of COPY escapes, by the character after the backslash. */
const UNESCAPED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const ESCAPED = new Map(Object.entries(UNESCAPED).map(([letter, character]) => [character, `\\${letter}`]));

const LINE_END = 0x0a;
const TAB = 0x09;

/**
 * Yields the rows of a COPY in text format, as many at once as the stream returns.
 * @throws the errors of the stream; Error if the stream ends within a row
 */
export async function* readCopy(stream: Readable): AsyncGenerator<TextRow[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of stream) {
    const bytes = Buffer.concat([rest, piece]);
    const rows: TextRow[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, start)) {
      rows.push(parseLine(bytes, start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
    yield rows;
  }
  if (rest.length > 0) throw new Error('the output of COPY is truncated');
}

/** Decodes each value alone, because a part of a text keeps the whole text in memory. */
function parseLine(bytes: Buffer, start: number, end: number): TextRow {
  const values: (string | null)[] = [];
  for (let at = start; at <= end; ) {
    const tab = bytes.indexOf(TAB, at);
    const stop = tab < 0 ? end : Math.min(tab, end);
    values.push(parseValue(bytes.toString('utf8', at, stop)));
    at = stop + 1;
  }
  return values;
}

function parseValue(text: string): string | null {
  if (!text.includes('\\')) return text;
  return text === '\\N' ? null : text.replaceAll(/\\(.)/g, (_, next: string) => UNESCAPED[next] ?? next);
}

/** Formats a row for a COPY in text format, with its line end. */
export const formatCopyRow = (row: TextRow): string => `${row.map(formatValue).join('\t')}\n`;

const formatValue = (value: string | null): string =>
  value === null
    ? '\\N'
    : value.replaceAll(/[\\\b\f\n\r\t\v]/g, (character) => ESCAPED.get(character) ?? '\\\\');
