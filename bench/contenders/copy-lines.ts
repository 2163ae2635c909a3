import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { EncodedRow } from '../../src/recording/histories/rows.ts';

/** A row in COPY's text format. */
export function copyLine(row: EncodedRow): string {
  return `${row.map((value) => (value === null ? '\\N' : value.replaceAll(/[\\\n\r\t]/g, escaped))).join('\t')}\n`;
}

/** Copies lines into a table. @returns the number of rows */
export async function copyRows(
  client: pg.Client,
  table: string,
  columns: readonly string[],
  lines: readonly Buffer[],
): Promise<number> {
  const copy = client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin`));
  await pipeline(Readable.from(lines), copy);
  return copy.rowCount;
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };
const escaped = (character: string) => ESCAPES[character] ?? character;
