import pg from 'pg';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { buildDecoder } from '../../src/recording/decode.ts';
import { rowColumns } from '../../src/recording/histories/batch.ts';
import type { EncodedRow } from '../../src/recording/histories/rows.ts';
import { blockPages } from './block-pages.ts';
import { target } from './block-range.ts';
import type { OpenContender } from './contender.ts';
import { copyLine, copyRows } from './copy-lines.ts';

/** One COPY of rows that are ready in memory, into the same table with the same index: the database's own cost. */
export const openBlockCopy: OpenContender = async (setup) => {
  const decoder = buildDecoder(proposedBlocks);
  const request: EncodedRow = proposedBlocks.request.map((key) => Reflect.get(target, key));
  const recordedAt = new Date().toISOString();
  const chunks: Buffer[] = [];
  for await (const blocks of blockPages(setup)) {
    const { rows } = decoder.page({ blocks }, target);
    chunks.push(Buffer.from(rows.map(({ row }) => copyLine([...request, ...row, recordedAt, '1'])).join('')));
  }
  const client = new pg.Client(setup.databaseUrl);
  await client.connect();
  const columns = [...rowColumns(proposedBlocks), 'valid_from', 'run_id'];
  return { run: () => copyRows(client, 'recorder.proposed_blocks', columns, chunks) };
};
