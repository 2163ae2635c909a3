import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { object, optional, uint } from '../fields.ts';
import { minute } from '../sources/durations.ts';
import { oneAnswer } from '../sources/one-answer.ts';
import { PRIMARY_NETWORK } from './current-validators.ts';

/** The supply of the primary network's token (seed node-rpc 4.3, platform.getCurrentSupply). */
const source: Source = {
  name: 'current-supply',
  upstream: 'nodes',
  every: 10 * minute,
  weight: 0,
  calls: 1,
  targets: ({ nodes }) => nodes.map((node) => ({ node, subnetId: PRIMARY_NETWORK })),
  walk: (ask, { subnetId }) =>
    oneAnswer(() => ask.rpc('/ext/bc/P', 'platform.getCurrentSupply', { subnetID: subnetId })),
};

export const currentSupply = defineDataset({
  name: 'current_supply',
  about: "Upper bound of a network's token supply, as a node says it.",
  seed: 'node-rpc 4.3',
  operations: ['platform.getCurrentSupply'],
  history: 'sample',
  source,
  request: ['node', 'subnetId'],
  key: ['node', 'subnet_id'],
  items: (body) => [body],
  item: object({
    supply: uint('In nAVAX on the primary network; burned tokens and fees are not subtracted.'),
    height: optional(uint('Height of the P-chain that it is about.')),
  }),
  example: { supply: '365865167637779183', height: '15210400' },
});

export const { table: currentSupplyTable } = currentSupply;
