import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Answer } from '../db/question.ts';
import type { Texts } from '../warehouse/answer-file.ts';
import type { Out } from './out.ts';
import { fieldsOf } from './printing-rows.ts';

/** Prints an answer as a Parquet file, which is made in a temporary folder first. A reader that leaves is no error. */
export async function printParquet({ columns, rows }: Answer, out: Out): Promise<void> {
  // The library is loaded by nobody else who asks.
  const { writeAnswer } = await import('../warehouse/answer-file.ts');
  const folder = await mkdtemp(join(tmpdir(), 'chain-recorder-query-'));
  try {
    const path = await writeAnswer(folder, columns, fields(rows('values')));
    await pipeline(createReadStream(path), out, { end: false });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && HAS_LEFT.has(error.code))) throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const HAS_LEFT: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

async function* fields(blocks: AsyncIterable<readonly string[]>): AsyncGenerator<readonly Texts[]> {
  for await (const block of blocks) yield block.map(fieldsOf);
}
