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

/**
 * Yields the rows of a COPY in text format, as many at once as the stream returns.
 * @throws the errors of the stream; Error if the stream ends within a row
 */
export async function* readCopy(stream: Readable): AsyncGenerator<TextRow[]> {
  let rest = '';
  for await (const piece of stream.setEncoding('utf8')) {
    const lines = `${rest}${String(piece)}`.split('\n');
    rest = lines.pop() ?? '';
    yield lines.map((line) => line.split('\t').map(parseValue));
  }
  if (rest !== '') throw new Error('the output of COPY is truncated');
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
