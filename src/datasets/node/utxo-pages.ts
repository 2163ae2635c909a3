import { UpstreamFailure } from '../../upstreams/failure.ts';
import { jsonText } from '../../upstreams/json.ts';
import type { Page, UpstreamClient } from '../contract.ts';
import { getList, getMember } from '../sources/answer.ts';

/** Outputs of the X-chain itself, then those in transit from the other two chains. */
const SOURCE_CHAINS = [undefined, 'P', 'C'];
const MAX_PAGE_OUTPUTS = 1024;

/**
 * Requests all unspent outputs of one address, page by page (rules of avm.getUTXOs). With
 * several addresses, a page may be short although more outputs follow (upstream-services.md#unspent-outputs).
 * @throws UpstreamFailure if a call fails permanently, or the page positions repeat
 */
export async function* walkUtxos(ask: UpstreamClient, address: string): AsyncGenerator<Page> {
  const limit = ask.pageSize(MAX_PAGE_OUTPUTS);
  for (const sourceChain of SOURCE_CHAINS) {
    const seen = new Set<string>();
    let startIndex: unknown;
    let before = '';
    let isFirst = true;
    for (;;) {
      const result = await ask.rpc('/ext/bc/X', 'avm.getUTXOs', {
        addresses: [address],
        limit,
        encoding: 'hex',
        ...(sourceChain === undefined ? {} : { sourceChain }),
        ...(startIndex === undefined ? {} : { startIndex }),
      });
      const utxos = getList(result, 'utxos', 'numFetched');
      const fetched = Number(getMember(result, 'numFetched') ?? utxos.length);
      startIndex = getMember(result, 'endIndex');
      const end = jsonText(startIndex);
      const done = !(fetched >= limit) || end === before;
      if (!done && seen.has(end))
        throw new UpstreamFailure('malformed', 'avm.getUTXOs leads from page to page in a circle');
      yield {
        body: { utxos, sourceChain },
        proven: null,
        last: done && sourceChain === SOURCE_CHAINS.at(-1),
        whole: true,
        ...(isFirst && { startsList: true }),
      };
      isFirst = false;
      if (done) break;
      seen.add(end);
      before = end;
    }
  }
}
