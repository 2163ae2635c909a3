import { Agent, request } from 'undici';
import { getList, getMember } from '../../src/datasets/sources/answer.ts';
import { timeWindowQuery } from '../../src/datasets/sources/time-windows.ts';
import { blockRange, target } from './block-range.ts';
import type { Setup } from './contender.ts';

const DAY = 86_400_000;

/** Reads all blocks without the recorder, by the same calls: day by day, newest first, page by page. */
export async function* blockPages({ serviceUrl, rows }: Setup): AsyncGenerator<readonly unknown[]> {
  const dispatcher = new Agent({ connections: 1, pipelining: 1 });
  const { from, to } = blockRange(rows);
  const { network, blockchainId, nodeId } = target;
  const path = `/v1/networks/${network}/blockchains/${blockchainId}/nodes/${nodeId}/blocks`;
  try {
    for (let end = to; end > from; end -= DAY) {
      const { startTimestamp, endTimestamp } = timeWindowQuery({ from: end - DAY, to: end });
      let token: string | undefined;
      do {
        const { body } = await request(`${serviceUrl}${path}`, {
          dispatcher,
          query: {
            pageSize: 100,
            startTimestamp,
            endTimestamp,
            ...(token === undefined ? {} : { pageToken: token }),
          },
        });
        const page: unknown = JSON.parse(await body.text());
        yield getList(page, 'blocks');
        const next = getMember(page, 'nextPageToken');
        token = typeof next === 'string' ? next : undefined;
      } while (token !== undefined);
    }
  } finally {
    await dispatcher.close();
  }
}
