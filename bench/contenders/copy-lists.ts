import pg from 'pg';
import type { History } from '../../src/datasets/contract.ts';
import { buildDecoder } from '../../src/recording/decode.ts';
import { rowColumns } from '../../src/recording/histories/batch.ts';
import type { OpenContender } from './contender.ts';
import { copyLine, copyRows } from './copy-lines.ts';
import { addressIn, listWork } from './lists.ts';
import { plainPages } from './plain-client.ts';

/** The required columns that a history adds. */
const HISTORY_COLUMNS: Readonly<Record<History, readonly string[]>> = {
  series: ['valid_from', 'run_id'],
  state: ['valid_from', 'run_id'],
  log: ['valid_from', 'run_id'],
  sample: ['observed_at', 'run_id'],
};

/**
 * One COPY of all the lists' rows, ready in memory, into a table with the same indexes: `bench.<dataset>`, emptied
 * before.
 */
export const openListCopy: OpenContender = async ({ serviceUrl, databaseUrl, list }) => {
  const work = listWork(list);
  const { dataset } = work;
  const decoder = buildDecoder(dataset);
  const now = new Date().toISOString();
  const chunks: Buffer[] = [];
  for (const [place, target] of work.targets(0).entries()) {
    const request = dataset.numbered
      ? [String(place + 1)]
      : dataset.request.map((key) => target[key] ?? null);
    for await (const { body } of plainPages(work, [target], addressIn(serviceUrl, 0))) {
      const { rows } = decoder.page(body, target);
      chunks.push(Buffer.from(rows.map(({ row }) => copyLine([...request, ...row, now, '1'])).join('')));
    }
  }
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const columns = [...rowColumns(dataset), ...HISTORY_COLUMNS[dataset.history]];
  return { run: () => copyRows(client, `bench.${dataset.name}`, columns, chunks) };
};
