import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { hex, json, list, object, optional, text, uint, unixSeconds } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { blockRange, walkBlocksUpwards } from './blocks-upwards.ts';
import { type NodeChain, requestBlockAt } from './chain-of-blocks.ts';
import { parseBlockTarget, walkRequestedBlock } from './requested-block.ts';

const chain: NodeChain = { path: '/ext/bc/P', service: 'platform' };

/** Blocks of the P-chain in ascending order, one call each, and single blocks by id or height on demand. */
const source: Source = {
  name: 'p-blocks',
  upstream: 'nodes',
  every: minute,
  weight: 0,
  calls: 1,
  range: blockRange,
  targets: ({ nodes }) => nodes.map((node) => ({ node })),
  demand: (pairs, scope) => parseBlockTarget(pairs, scope, ['blockId', 'height']),
  walk: (client, target, window) =>
    walkRequestedBlock(client, chain, target) ?? walkBlocksUpwards(client, chain, window),
};

export const pBlocks = defineDataset({
  name: 'p_blocks',
  about: 'Blocks of the P-chain with their transactions, as a node returns them.',
  operations: ['platform.getBlockByHeight', 'platform.getBlock'],
  history: 'log',
  source,
  request: ['node'],
  key: ['node', 'height'],
  everyNode: { own: [] },
  chain: {
    height: 'height',
    id: 'id',
    parent: 'parent_id',
    entryAt: (client, _target, height) => requestBlockAt(client, chain, height),
  },
  items: (body) => getList(body, 'blocks'),
  states: { blockId: ['id'], height: ['height'] },
  item: object({
    height: uint(),
    id: optional(text()),
    parentID: optional(text()),
    time: optional(unixSeconds('Null: an old block without its own time.')),
    txs: optional(
      list(
        object({
          id: optional(text()),
          unsignedTx: optional(json()),
          credentials: optional(json()),
        }),
        'Transactions; amounts in nAVAX.',
      ),
    ),
    tx: optional(json('The transaction of a block that has only one, such as a proposal.')),
    bytes: optional(hex('The block as hex, from a node that returned no JSON.')),
  }),
  example: {
    parentID: '5615di9ytxujackzaXNrVuWQy5y8Yrt8chPCscMr5Ku9YxJ1S',
    height: 1000001,
    time: 1635980695,
    id: 'd7WYmb8VeZNHsny3EJCwMm6QA37s1EHwMxw1Y71V3FqPZ5EFG',
    txs: [
      {
        unsignedTx: {
          networkID: 1,
          blockchainID: '11111111111111111111111111111111LpoYY',
          outputs: [],
          inputs: [],
          memo: '0x',
          destinationChain: '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5',
        },
        credentials: [{ signatures: ['0xc79711c4b48dcde205b63603efef7c61'] }],
      },
    ],
  },
});

export const { table: pBlocksTable } = pBlocks;
