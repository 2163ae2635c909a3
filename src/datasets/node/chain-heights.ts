import { defineDataset } from '../dataset.ts';
import { object, uint } from '../fields.ts';
import { minute } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';

/** Height of the X-chain of a node (avm.getHeight). */
const source = nodeMethod({
  name: 'chain-heights',
  path: '/ext/bc/X',
  method: 'avm.getHeight',
  every: minute,
  about: () => [{ chain: 'X' }],
});

export const chainHeights = defineDataset({
  name: 'chain_heights',
  about: "Height of the last block that a node's chain accepted.",
  operations: ['avm.getHeight'],
  history: 'sample',
  source,
  request: ['node', 'chain'],
  key: ['node', 'chain'],
  items: (body) => [body],
  item: object({ height: uint() }),
  example: { height: '5094088' },
});

export const { table: chainHeightsTable } = chainHeights;
