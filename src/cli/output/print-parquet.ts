import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QuestionResult } from '../../db/question.ts';
import type { OutputStream } from '../../lib/output-stream.ts';
import { explainWriteErrors } from '../../lib/write-errors.ts';
import type { TextRow } from '../../warehouse/answer-file.ts';
import { createPacedWriter, parseFields } from './print-rows.ts';

/**
 * Prints a query result as a Parquet file, which is first written to a temporary folder. Returns early if the
 * reader closes the output.
 * @throws as {@link explainWriteErrors}
 */
export async function printParquet({ columns, rows }: QuestionResult, out: OutputStream): Promise<void> {
  // Only Parquet output loads the library.
  const { writeParquetResult } = await import('../../warehouse/answer-file.ts');
  const place = `TMPDIR ${tmpdir()}`;
  const folder = await explainWriteErrors(place, () => mkdtemp(join(tmpdir(), 'chain-recorder-query-')));
  try {
    const path = await explainWriteErrors(place, () =>
      writeParquetResult(folder, columns, fields(rows('values'))),
    );
    const write = createPacedWriter(out);
    for await (const bytes of createReadStream(path)) if (!(await write(bytes))) return;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function* fields(blocks: AsyncIterable<readonly string[]>): AsyncGenerator<readonly TextRow[]> {
  for await (const block of blocks) yield block.map(parseFields);
}
