import type { Ask, Page, Source } from '../contract.ts';
import { memberOf } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { wholeAnswer } from '../sources/one-answer.ts';
import { Offered } from '../sources/optional-methods.ts';
import { askedBlock, askedTarget } from './asked-block.ts';
import { blockRange, blocksUpwards } from './blocks-upwards.ts';
import type { ChainOfBlocks } from './chain-of-blocks.ts';

export const xChain: ChainOfBlocks = { path: '/ext/bc/X', service: 'avm' };

/**
 * Blocks of the X-chain upwards, one call each, with their transactions (seed node-rpc 4.1). Single blocks by
 * id or height, and transactions by id, on demand.
 */
export const xChainBlocks: Source = {
  name: 'x-chain-blocks',
  upstream: 'nodes',
  every: minute,
  weight: 0,
  calls: 1,
  range: blockRange,
  targets: ({ nodes }) => nodes.map((node) => ({ node })),
  demand: (pairs, scope) => askedTarget(pairs, scope, ['blockId', 'height', 'txId']),
  walk: (ask, target, window) =>
    target.txId === undefined
      ? (askedBlock(ask, xChain, target) ?? blocksUpwards(ask, xChain, window))
      : transaction(ask, target.txId),
};

/**
 * The final statuses. A transaction with another status is not stored, but its status is stored with the run.
 */
const DECIDED: ReadonlySet<unknown> = new Set(['Accepted', 'Rejected']);

async function* transaction(ask: Ask, txID: string): AsyncGenerator<Page> {
  const offered = new Offered(ask);
  const status = memberOf(await offered.rpc(xChain.path, 'avm.getTxStatus', { txID }), 'status');
  if (status !== undefined && !DECIDED.has(status)) {
    yield { ...wholeAnswer({ blocks: [], transactions: [] }), note: `status ${String(status)}` };
    return;
  }
  // A node does not return the content of a rejected transaction.
  const answer =
    status === 'Rejected' ? undefined : await ask.rpc(xChain.path, 'avm.getTx', { txID, encoding: 'json' });
  const tx = memberOf(answer, 'tx');
  const read = typeof tx === 'string' ? { bytes: tx } : tx;
  yield wholeAnswer(
    { blocks: [], transactions: [Object.assign({ id: txID }, read, { status })] },
    offered.refused,
  );
}
