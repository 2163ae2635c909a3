import postgres from 'postgres';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import type { SourcePage } from '../../src/datasets/contract.ts';
import { openCommitPool } from '../../src/db/client.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import type { RecordingContext } from '../../src/recording/context.ts';
import { record } from '../../src/recording/record.ts';

/**
 * Records transactions of one address until it is killed; each contains the newest one of any process that this process
 * read.
 */
const [url = '', writer = '', pageSize = '500'] = process.argv.slice(2);
const sql = postgres(url, { max: 2, onnotice: () => {} });
const [PAGES, SIZE] = [10, Number(pageSize)];

async function* pages(): AsyncGenerator<SourcePage> {
  for (let page = 1; page <= PAGES; page += 1) {
    const [newest] = await sql<{ tx_hash: string | null }[]>`
      select (keys[1]::text[])[1] as tx_hash from recorder.changes order by commit_number desc limit 1`;
    const mark = `${process.pid}-${Date.now()}-${page}`;
    const transactions = Array.from({ length: SIZE }, (_, at) => ({
      txHash: `0x${writer}-${mark}-${at}`,
      blockNumber: String(at),
      blockTimestamp: 1_700_000_000,
      ...(newest?.tx_hash ? { method: { callType: 'c', methodHash: 'h', methodName: newest.tx_hash } } : {}),
    }));
    yield { body: { transactions }, proven: null, last: page === PAGES, whole: false };
  }
}

const target = { chainId: 'feed', address: `0x${writer}` };
const { range: _, ...sourceWithoutRange } = nativeTransactions.source;
const source = { ...sourceWithoutRange, walk: () => pages() };
const feed = withDefaultSettings({ source, datasets: [{ ...nativeTransactions, source }] }, [target]);
const unsupported = () => Promise.reject(new Error('this feed calls no upstream'));
const context: RecordingContext = {
  sql,
  commits: openCommitPool(url, 1),
  clock: () => Date.now(),
  worker: `writer ${process.pid}`,
  open: () => ({
    get: unsupported,
    post: unsupported,
    rpc: unsupported,
    probe: unsupported,
    pageSize: (max) => max,
    usage: { requests: 1, units: 1 },
    now: Date.now(),
  }),
};
for (;;) {
  // A killed writer holds the target no longer: there is one process per target.
  await sql`update recorder.targets set lease_until = null, run_id = null where target = ${JSON.stringify(target)}::text::jsonb`;
  await record(context, feed, { target, window: null, reason: 'manual' }, new AbortController().signal);
}
