import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer } from '../../db/question.ts';
import type { Out } from '../../lib/output-stream.ts';
import { writingTo } from '../../lib/write-errors.ts';
import type { Texts } from '../../warehouse/answer-file.ts';
import { fieldsOf, pacing } from './print-rows.ts';

/**
 * Prints a query result as a Parquet file, which is first written to a temporary folder. Returns early if the
 * reader closes the output.
 * @throws as {@link explainWriteErrors}
 */
export async function printParquet({ columns, rows }: Answer, out: Out): Promise<void> {
  // Only Parquet output loads the library.
  const { writeAnswer } = await import('../../warehouse/answer-file.ts');
  const place = `TMPDIR ${tmpdir()}`;
  const folder = await writingTo(place, () => mkdtemp(join(tmpdir(), 'chain-recorder-query-')));
  try {
    const path = await writingTo(place, () => writeAnswer(folder, columns, fields(rows('values'))));
    const write = pacing(out);
    for await (const bytes of createReadStream(path)) if (!(await write(bytes))) return;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function* fields(blocks: AsyncIterable<readonly string[]>): AsyncGenerator<readonly Texts[]> {
  for await (const block of blocks) yield block.map(fieldsOf);
}
