import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { object, uint } from '../fields.ts';
import { minute } from '../sources/durations.ts';
import { oneAnswer } from '../sources/one-answer.ts';

/** How high a node's X-chain is (seed node-rpc 4.1, avm.getHeight). */
const source: Source = {
  name: 'chain-heights',
  upstream: 'nodes',
  every: minute,
  weight: 0,
  calls: 1,
  targets: ({ nodes }) => nodes.map((node) => ({ node, chain: 'X' })),
  walk: (ask, { chain }) => oneAnswer(() => ask.rpc(`/ext/bc/${chain}`, 'avm.getHeight')),
};

export const chainHeights = defineDataset({
  name: 'chain_heights',
  about: "Height of the last block that a node's chain accepted.",
  seed: 'node-rpc 4.1',
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
