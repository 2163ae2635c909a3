import { type Answer, Refusal } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import { type Operation, type PathParts, part } from '../http/operation.ts';
import { readPage, sliceNumbers } from '../http/paging.ts';
import { Query } from '../http/query.ts';
import { isNodeId } from '../ids/base58.ts';
import { writeJson } from '../json.ts';
import type { DataService } from './data-service.ts';
import { chainInfo, chainOf, networkOf } from './networks.ts';

/**
 * Returns the operation that lists blocks proposed by a node, newest first. Blocks of the last `lagMs` are
 * not indexed yet.
 */
export function proposedBlocks({ networks, tokens, lagMs }: DataService): Operation[] {
  function answer(call: Call, parts: PathParts): Answer {
    const network = networkOf(networks, parts);
    const chain = chainOf(network, parts);
    const query = new Query(call.query);
    const start = query.integer('startTimestamp', { min: 0 }) ?? 0;
    const end = query.integer('endTimestamp', { min: 0 }) ?? Number.MAX_SAFE_INTEGER;
    const nodeId = part(parts, 'nodeId');
    if (!isNodeId(nodeId)) query.fault('nodeId must be a valid node id');
    const page = readPage(call, query, tokens, { max: 100, standard: 10 });
    const node = network.validators.node(nodeId);
    const texts: string[] = [];
    let token = '';
    if (node !== undefined) {
      const blocks = network.blocks(chain);
      const indexed = Math.floor((call.nowMs - lagMs) / 1000);
      const from = start <= network.genesisSec ? 0 : blocks.countUntil(node.seat, start - 1);
      const to = blocks.countUntil(node.seat, Math.min(end, indexed));
      const { items, nextPageToken } = sliceNumbers({ from, to }, page);
      for (const i of items) texts.push(blocks.text(blocks.proposers.height(node.seat, i)));
      if (nextPageToken !== undefined) token = `"nextPageToken":"${nextPageToken}",`;
    }
    const text = `{${token}"blocks":[${texts.join(',')}],"chainInfo":${writeJson(chainInfo(network, chain))}}`;
    if (start > end) throw new Refusal(400, 'startTimestamp must not be after endTimestamp');
    return { status: 200, text };
  }

  return [
    {
      name: 'listPrimaryNetworkBlocksByNodeId',
      service: 'data',
      units: 20,
      method: 'GET',
      path: '/v1/networks/{network}/blockchains/{blockchainId}/nodes/{nodeId}/blocks',
      answer,
    },
  ];
}
