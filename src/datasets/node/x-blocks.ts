import { defineDataset } from '../dataset.ts';
import { hex, json, list, object, optional, text, uint, unixSeconds } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { requestBlockAt } from './chain-of-blocks.ts';
import { xChain, xChainBlocks } from './x-chain-blocks.ts';

export const xBlocks = defineDataset({
  name: 'x_blocks',
  about: 'Blocks of the X-chain, as a node returns them.',
  operations: ['avm.getHeight', 'avm.getBlockByHeight', 'avm.getBlock'],
  history: 'log',
  source: xChainBlocks,
  request: ['node'],
  key: ['node', 'height'],
  everyNode: { own: [] },
  chain: {
    height: 'height',
    id: 'id',
    parent: 'parent_id',
    entryAt: (client, _target, height) => requestBlockAt(client, xChain, height),
  },
  items: (body) => getList(body, 'blocks'),
  states: { blockId: ['id'], height: ['height'] },
  item: object({
    height: uint(),
    id: optional(text()),
    parentID: optional(text()),
    time: optional(unixSeconds()),
    merkleRoot: optional(text()),
    txs: optional(
      list(
        object({
          id: optional(text()),
          unsignedTx: optional(json()),
          credentials: optional(json()),
        }),
        'Transactions, as in x_transactions.',
      ),
    ),
    bytes: optional(hex('The block as hex, from a node that returned no JSON.')),
  }),
  example: {
    parentID: 'tXJ4xwmR8soHE6DzRNMQPtiwQvuYsHn6eLLBzo2moDqBquqy6',
    height: 5094088,
    time: 1763600000,
    merkleRoot: '11111111111111111111111111111111LpoYY',
    txs: [],
    id: '2dGXbZKuFuFUvkZxJuKvRAXcqZYTjWVEJDXwPTHfBJnZkRK8qP',
  },
});

export const { table: xBlocksTable } = xBlocks;
