import type { Source, SourcePage, UpstreamClient } from '../contract.ts';
import { getMember } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { OptionalMethods } from '../sources/optional-methods.ts';
import { singleResponsePage } from '../sources/single-response.ts';
import { blockRange, walkBlocksUpwards } from './blocks-upwards.ts';
import type { NodeChain } from './chain-of-blocks.ts';
import { parseBlockTarget, walkRequestedBlock } from './requested-block.ts';

export const xChain: NodeChain = { path: '/ext/bc/X', service: 'avm' };

/**
 * Blocks of the X-chain in ascending order, one call each, with their transactions. On demand, single blocks
 * by id or height, and transactions by id.
 */
export const xChainBlocks: Source = {
  name: 'x-chain-blocks',
  upstream: 'nodes',
  every: minute,
  weight: 0,
  calls: 1,
  range: blockRange,
  targets: ({ nodes }) => nodes.map((node) => ({ node })),
  demand: (pairs, scope) => parseBlockTarget(pairs, scope, ['blockId', 'height', 'txId']),
  walk: (client, target, window) =>
    target.txId === undefined
      ? (walkRequestedBlock(client, xChain, target) ?? walkBlocksUpwards(client, xChain, window))
      : walkTransaction(client, target.txId),
};

/**
 * Final statuses of transactions. A transaction with another status is not stored, but its status is stored
 * with the run.
 */
const FINAL_STATUSES: ReadonlySet<unknown> = new Set(['Accepted', 'Rejected']);

async function* walkTransaction(client: UpstreamClient, txID: string): AsyncGenerator<SourcePage> {
  const offered = new OptionalMethods(client);
  const status = getMember(await offered.rpc(xChain.path, 'avm.getTxStatus', { txID }), 'status');
  if (status !== undefined && !FINAL_STATUSES.has(status)) {
    yield { ...singleResponsePage({ blocks: [], transactions: [] }), note: `status ${String(status)}` };
    return;
  }
  // A node does not return the content of a rejected transaction.
  const answer =
    status === 'Rejected'
      ? undefined
      : await client.rpc(xChain.path, 'avm.getTx', { txID, encoding: 'json' });
  const tx = getMember(answer, 'tx');
  const read = typeof tx === 'string' ? { bytes: tx } : tx;
  yield singleResponsePage(
    { blocks: [], transactions: [Object.assign({ id: txID }, read, { status })] },
    offered.refused,
  );
}
