import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { expect } from 'vitest';
import { withBulkLoad } from '../../src/db/bulk-load.ts';
import { formatCopyRow, readCopy, type TextRow } from '../../src/db/copy-text.ts';
import { withSnapshot } from '../../src/db/snapshot.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, sql, database } = withDatabase();
const never = new AbortController().signal;

/** Texts that PostgreSQL can store, many of them with characters that COPY escapes. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('\\', '\t', '\n', '\r', '\b', '\f', '\v', 'N', 'n', '.', '\u2028') }),
  fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll('\0', '')),
);
const rows = fc.array(fc.tuple(fc.option(text), fc.option(text)), { minLength: 1, maxLength: 50 });

it('stores and returns every text and null as it was', async () => {
  await sql`create table public.texts (number integer, one text, other text)`;
  await fc.assert(
    fc.asyncProperty(rows, async (written) => {
      await withBulkLoad(database.url, never, async (load) => {
        await load.rows('truncate public.texts');
        const lines = written.map((row, at) => formatCopyRow([String(at), ...row]));
        await pipeline(Readable.from(lines), load.copy('public.texts'));
      });
      const stored = await sql`select one, other from public.texts order by number`.values();
      expect([...stored]).toEqual(written);
      const read: TextRow[] = [];
      await withSnapshot(database.url, never, async (snapshot) => {
        const select = 'select one, other from public.texts order by number';
        for await (const chunk of snapshot.copy(select)) read.push(...chunk);
      });
      expect(read).toEqual(written);
    }),
    { numRuns: 30 },
  );
});

it('reads rows that the stream divides at any byte, and refuses a truncated output', async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 7 }), async (written, size) => {
      const bytes = Buffer.from(written.map(formatCopyRow).join(''));
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect(await readAll(pieces)).toEqual(written);
    }),
  );
  await expect(readAll([Buffer.from('a\tb\nc')])).rejects.toThrow('truncated');
});

async function readAll(pieces: readonly Buffer[]): Promise<TextRow[]> {
  const read: TextRow[] = [];
  for await (const chunk of readCopy(Readable.from(pieces, { objectMode: false }))) read.push(...chunk);
  return read;
}
