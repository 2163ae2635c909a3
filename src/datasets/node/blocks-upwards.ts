import { OPEN_END, type Range, type SourcePage, type UpstreamClient, type Window } from '../contract.ts';
import { findHead, type NodeChain, requestBlockAt } from './chain-of-blocks.ts';

const PAGE_SIZE = 50;
const MAX_BLOCKS_PER_RUN = 500;
/** Maximum number of concurrent requests for blocks of one run. */
const MAX_CONCURRENT_REQUESTS = 8;
/** Distance from the newest block at which a recording starts, in blocks. */
const INITIAL_BLOCKS = 100;

/**
 * Range of blocks. Every block is final and requested only once. A new recording starts near the newest
 * block, whose height only the node can report.
 */
export const blockRange: Range = {
  axis: 'height',
  span: () => Number.POSITIVE_INFINITY,
  head: () => 1,
  settle: 0,
  lookback: 0,
  perRun: MAX_BLOCKS_PER_RUN,
};

/**
 * Requests the blocks of a window upwards, one call each, some of them concurrently. A run requests at most
 * {@link MAX_BLOCKS_PER_RUN} blocks. If more are left, the walk ends without a last page, and the next run
 * continues. A window that starts at {@link OPEN_END} is the first window of a recording, which has no blocks
 * yet.
 */
export async function* walkBlocksUpwards(
  client: UpstreamClient,
  chain: NodeChain,
  window: Window | null,
): AsyncGenerator<SourcePage> {
  const { from: known, to: end } = window ?? { from: OPEN_END, to: OPEN_END };
  const isInitial = known >= OPEN_END - 1;
  const head = await findHead(client, chain, isInitial ? 0 : known);
  const from = isInitial ? Math.max(head - INITIAL_BLOCKS, 0) : known;
  const to = Math.min(end, head + 1);
  const until = Math.min(to, from + MAX_BLOCKS_PER_RUN);
  // If there is no new block, the newest recorded block is requested again. This request detects another
  // chain or an older state of the chain.
  const again = end === OPEN_END && head < from && head >= 0 && from > 0 ? Math.min(head, from - 1) : null;
  for (let first = from; ; ) {
    const blocks: unknown[] = again === null ? [] : [await requestBlockAt(client, chain, again)];
    while (first < until && blocks.length < PAGE_SIZE) {
      const count = Math.min(MAX_CONCURRENT_REQUESTS, until - first, PAGE_SIZE - blocks.length);
      blocks.push(...(await requestBlocks(client, chain, first, count)));
      first += count;
    }
    const last = first >= to;
    const hasMore = first >= until && !last;
    yield {
      body: { blocks },
      head,
      proven: first > from ? { from, to: first } : null,
      last,
      whole: true,
      ...(hasMore ? { note: `${to - first} blocks are left for the next runs` } : {}),
    };
    if (last || hasMore) return;
  }
}

/**
 * Requests consecutive blocks concurrently, and waits for all of them.
 * @throws UpstreamFailure of the lowest block that was not received
 */
async function requestBlocks(
  client: UpstreamClient,
  chain: NodeChain,
  from: number,
  count: number,
): Promise<unknown[]> {
  const answers = await Promise.allSettled(
    Array.from({ length: count }, (_, at) => requestBlockAt(client, chain, from + at)),
  );
  return answers.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  });
}
